"""One load, as the bench hands it to the load process."""

import json
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """`driver` names a module of `bench.drivers`; `pid` is the server's, for its CPU time; `body` is bytes each way."""

    driver: str
    address: dict[str, Any]
    pid: int
    pairs: int
    body: int
    warm_up_s: float
    seconds: float

    def to_json(self) -> str:
        return json.dumps(asdict(self))
