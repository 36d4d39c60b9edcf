"""What `peerline setup` puts into a client's file, and the record of how it stands there."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from peerline.cli.hot_output import Failure

Data = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """`value` at `path` of a file; `listed`: one item of the list that stands at `path`."""

    path: tuple[str, ...]
    value: Any
    what: str
    listed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """An entry as it was written: `text` is exactly what was inserted, `made` the containers that came with it."""

    path: tuple[str, ...]
    value: Any
    text: str
    listed: bool = False
    made: int = 0

    def as_record(self) -> Data:
        return {**asdict(self), "path": list(self.path)}

    @classmethod
    def from_record(cls, record: Data) -> Self:
        return cls(**{**record, "path": tuple(record["path"])})

    def of(self, entry: Entry) -> bool:
        """Whether this is how `entry` was written."""
        return (self.path, self.value, self.listed) == (entry.path, entry.value, entry.listed)


class Dialect(NamedTuple):
    """How entries stand in one kind of file; all three work on texts and touch no file."""

    parse: Callable[[str], Data]
    insert: Callable[[str, Entry], tuple[str, Edit]]
    cut: Callable[[str, Edit], str]


class Unfit(Failure):
    """The file cannot be changed without losing or guessing something; its user has to."""


def found(data: Data, path: tuple[str, ...]) -> Any:
    """What stands at `path`; None if nothing does.

    Raises:
        Unfit: something on the way there is no object.
    """
    here: Any = data
    for depth, key in enumerate(path):
        if not isinstance(here, dict):
            raise Unfit(f"{'.'.join(path[:depth])} in it is no object")
        if key not in here:
            return None
        here = here[key]
    return here


def held(data: Data, wanted: Entry | Edit) -> bool:
    """Whether the entry stands there; members that its client added to it do not matter."""
    here = found(data, wanted.path)
    if not wanted.listed:
        return _covers(here, wanted.value)
    return isinstance(here, list) and any(_covers(item, wanted.value) for item in here)


def merged(data: Data, entry: Entry) -> Data:
    """`data` with the entry in it.

    Raises:
        Unfit: something else is where it belongs.
    """
    key, *rest = entry.path
    result = dict(data)
    if rest:
        below = result.get(key, {})
        if not isinstance(below, dict):
            raise Unfit(f"{key} in it is no object")
        deeper = Entry(path=tuple(rest), value=entry.value, what=entry.what, listed=entry.listed)
        result[key] = merged(below, deeper)
    elif entry.listed:
        items = result.get(key, [])
        if not isinstance(items, list):
            raise Unfit(f"{key} in it is no list")
        result[key] = [*items, entry.value]
    else:
        result[key] = entry.value
    return result


def place(items: list[Any], value: Any) -> int:
    """Where the item is."""
    return next(at for at, item in enumerate(items) if _covers(item, value))


def _covers(here: Any, value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(here, dict) and all(_covers(here.get(key), part) for key, part in value.items())
    return bool(here == value)
