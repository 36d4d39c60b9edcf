"""What a harness works on at a time."""

from dataclasses import dataclass, field

from peerline.client.records import Message
from peerline.core.ids import Millis
from peerline.worker.desk import Work


@dataclass(slots=True)
class Turn:
    """What the harness works on: requests, or the news that our own have ended."""

    work: dict[str, Work]
    begun: set[str] = field(default_factory=set)
    handed_in: Millis = 0

    @property
    def requests(self) -> list[Message]:
        return [one for key, one in self.work.items() if isinstance(one, Message) and key in self.begun]
