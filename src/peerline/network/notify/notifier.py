"""Tells a person by the sinks that the settings name; what fails is a line for the log and stops nothing."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

from peerline.core.ids import Millis
from peerline.network.notify import sinks
from peerline.network.notify.ledger import Ledger
from peerline.network.notify.notice import Arrival, Notice, notice, reason
from peerline.network.notify.settings import NotifySettings, Sink
from peerline.wire.instants import instant

FILE_NAME: Final = "NOTICE.md"
LEDGER_NAME: Final = ".told"


class Notifier:
    """`inbox` is the folder where the file sink writes; `tell` takes up to 5 s a sink and belongs into a thread."""

    def __init__(
        self,
        inbox: Path,
        *,
        now: Callable[[], Millis],
        environ: Mapping[str, str],
        stream: TextIO | None = None,
        platform: str = sys.platform,
    ) -> None:
        self._ledger = Ledger(inbox / LEDGER_NAME)
        self._file, self._now, self._environ = inbox / FILE_NAME, now, environ
        self._stream, self._platform = stream if stream is not None else sys.stderr, platform

    def tell(self, arrived: Sequence[Arrival], me: str, settings: NotifySettings, *, agent_near: bool) -> list[str]:
        """Tell of what one look brought, if anybody has to be told and was not yet, by whichever process.

        The lines that come back are for the log.
        """
        if set(settings.sinks) <= {Sink.NONE}:
            return []
        wanted = [one for one in arrived if reason(one, me, agent_near=agent_near) is not None]
        new = self._ledger.new([one.key for one in wanted])
        made = notice([one for one in wanted if one.key in new], me, agent_near=agent_near)
        return list(self._told(made, settings)) if made else []

    def _told(self, made: Notice, settings: NotifySettings) -> Iterator[str]:
        for sink in settings.sinks:
            try:
                self._one(made, sink, settings)
            except sinks.NotTold as fault:
                yield f"not told by {sink}: {fault}"
                if sink is Sink.OS and Sink.FILE not in settings.sinks:
                    yield from self._told(made, NotifySettings(sinks=(Sink.FILE,)))

    def _one(self, made: Notice, sink: Sink, settings: NotifySettings) -> None:
        if sink is Sink.OS:
            sinks.desktop(made, self._environ, self._platform)
        elif sink is Sink.FILE:
            sinks.file(made, self._file, instant(self._now()))
        elif sink is Sink.TERMINAL:
            sinks.terminal(made, self._stream)
        elif sink is Sink.WEBHOOK and settings.webhook is not None:
            sinks.webhook(made, settings.webhook)
