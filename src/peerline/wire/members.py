"""The members of a mapping that somebody else wrote, read one by one, with the fault named; and rewritten whole."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from peerline.core.errors import Invalid
from peerline.core.ids import Millis
from peerline.wire.instants import millis
from peerline.wire.yaml_core import InvalidYaml, load

FILE_BYTES: Final = 262_144

Shape: TypeAlias = "Mapping[str, Shape | None]"

_MISSING: Final[Any] = object()


class MalformedFile(Invalid):
    """A card, room, receipt or other file of the network that can't be read; the text names the member."""

    code = "MALFORMED_FILE"


class Members:
    def __init__(self, mapping: object, where: str = "") -> None:
        if not isinstance(mapping, Mapping):
            raise MalformedFile(f"{where.rstrip('.') or 'the file'} is no mapping")
        self.mapping: Mapping[str, Any] = mapping
        self._where = where

    def text(self, name: str, default: Any = _MISSING, check: Callable[[str], bool] | None = None) -> Any:
        """A text; `default` where it is absent. Without a default it must be there."""
        value = self.mapping.get(name)
        if value is None and default is not _MISSING:
            return default
        if not isinstance(value, str) or not (check is None or check(value)):
            raise self._fault(name, value)
        return value

    def texts(self, name: str, default: Any = ()) -> Any:
        value = self.mapping.get(name)
        if value is None:
            return default
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self._fault(name, value)
        return tuple(value)

    def whole(self, name: str, default: Any = _MISSING, least: int = 0) -> int:
        value = self.mapping.get(name)
        if value is None and default is not _MISSING:
            return int(default)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._fault(name, value)
        return value

    def moment(self, name: str, default: Any = _MISSING) -> Any:
        """Milliseconds; `default` where there is no moment that could be understood."""
        value = self.mapping.get(name)
        try:
            return millis(value) if isinstance(value, str) else self._absent(name, value, default)
        except (ValueError, OverflowError):
            return self._absent(name, value, default)

    def inner(self, name: str) -> "Members":
        """The mapping under `name`; empty where there is none."""
        value = self.mapping.get(name)
        return Members({} if value is None else value, f"{self._where}{name}.")

    def version(self, *known: int) -> None:
        if (value := self.mapping.get("v")) not in known or isinstance(value, bool):
            raise MalformedFile(f"v is {value!r:.20}; understood here: {', '.join(map(str, known))}")

    def _absent(self, name: str, value: object, default: Any) -> Millis:
        if default is _MISSING:
            raise self._fault(name, value)
        return default  # type: ignore[no-any-return]

    def _fault(self, name: str, value: object) -> MalformedFile:
        return MalformedFile(f"{self._where}{name} is {'missing' if value is None else 'not acceptable'}")


def yaml_members(data: bytes) -> Members:
    """The mapping in a YAML file.

    Raises:
        MalformedFile
    """
    if len(data) > FILE_BYTES:
        raise MalformedFile(f"larger than {FILE_BYTES:,} bytes")
    try:
        return Members(load(data.decode()))
    except InvalidYaml as error:
        raise MalformedFile(str(error)) from None
    except UnicodeDecodeError:
        raise MalformedFile("not UTF-8") from None


def json_members(data: bytes) -> Members:
    """The mapping in a JSON file.

    Raises:
        MalformedFile
    """
    if len(data) > FILE_BYTES:
        raise MalformedFile(f"larger than {FILE_BYTES:,} bytes")
    try:
        return Members(json.loads(data))
    except (ValueError, RecursionError):
        raise MalformedFile("not JSON") from None


def frontmatter(data: bytes) -> tuple[Members, str]:
    """The header and the rest of a Markdown file.

    Raises:
        MalformedFile
    """
    if len(data) > FILE_BYTES:
        raise MalformedFile(f"larger than {FILE_BYTES:,} bytes")
    data = data.replace(b"\r\n", b"\n")
    end = data.find(b"\n---\n", 3)
    if not data.startswith(b"---\n") or end < 0:
        raise MalformedFile("no header between two lines ---")
    return yaml_members(data[4 : end + 1]), data[end + 5 :].decode(errors="replace")


def present(members: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The members in order, without those that are None."""
    return {name: value for name, value in members if value is not None}


def with_kept(known: Mapping[str, Any], kept: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """`known`, and after it at each level what `kept` holds there that `shape` does not name."""
    whole = dict(known)
    for name, value in kept.items():
        if name not in shape:
            whole[name] = value
        elif (inner := shape[name]) and isinstance(value, Mapping) and isinstance(whole.get(name), Mapping):
            whole[name] = with_kept(whole[name], value, inner)
    return whole
