"""All of YAML that the network takes, for what is not plain.

libyaml (through PyYAML) finds the structure; what a scalar means is ours, since PyYAML's own rules are those of
YAML 1.1.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from peerline.wire.yaml_core import DEPTH_AT_MOST, VALUES_AT_MOST, InvalidYaml
from peerline.wire.yaml_scalars import resolved

# Ordinary characters in YAML 1.2 that libyaml refuses or takes for the end of a line, and the one that marks them: each
# is put aside as the mark and a private character, which no text can hold by accident since the mark is put aside too.
_MARK: Final = "\U0010fffd"
_ODD: Final = [*map(chr, range(0x7F, 0xA0)), "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", _MARK]
_ODD_ONE: Final = re.compile(f"[{''.join(_ODD)}]")
_MARKED: Final = re.compile(f"{_MARK}(.)")
_HIDE: Final = str.maketrans({odd: f"{_MARK}{chr(0x10FF00 + at)}" for at, odd in enumerate(_ODD)})
_CORE_TAG: Final = "tag:yaml.org,2002:"


def load_whole(text: str) -> Any:
    """What `load` does with all that is not plain."""
    from yaml import YAMLError  # here, because importing it costs more than all the rest of a short command
    from yaml._yaml import CParser

    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            raise InvalidYaml("a carriage return that ends no line")
    hidden = _ODD_ONE.search(text) is not None
    if hidden:
        text = text.translate(_HIDE)
    try:
        return _Reader(CParser(text).get_event, hidden).document()
    except YAMLError as error:
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
        mark = getattr(error, "problem_mark", None)
        raise InvalidYaml(f"{problem}, line {mark.line + 1}" if mark else str(problem)) from None
    except UnicodeError:
        raise InvalidYaml("not valid Unicode text") from None


class _Reader:
    def __init__(self, event: Callable[[], Any], hidden: bool) -> None:
        self._event = event
        self._hidden = hidden
        self._left = VALUES_AT_MOST

    def document(self) -> Any:
        self._event()
        if type(self._event()).__name__ == "StreamEndEvent":
            return None
        value = self._value(self._event(), 0)
        self._event()
        if type(self._event()).__name__ != "StreamEndEvent":
            raise InvalidYaml("more than one document")
        return value

    def _value(self, event: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise InvalidYaml(f"more than {VALUES_AT_MOST:,} values")
        name = type(event).__name__
        if name == "ScalarEvent":
            return self._scalar(event)
        if name == "AliasEvent":
            raise InvalidYaml(f"an alias (*), line {event.start_mark.line + 1}; they are not taken")
        if depth == DEPTH_AT_MOST:
            raise InvalidYaml(f"nested deeper than {DEPTH_AT_MOST} levels")
        return self._mapping(depth + 1) if name == "MappingStartEvent" else self._list(depth + 1)

    def _scalar(self, event: Any) -> Any:
        value: str = event.value
        if self._hidden:
            value = _shown(value)
        plain = event.implicit[0]
        if event.tag is not None and event.tag.startswith(_CORE_TAG):
            plain = event.tag[len(_CORE_TAG) :] in ("int", "float", "bool", "null")
        return resolved(value) if plain else value

    def _list(self, depth: int) -> list[Any]:
        values: list[Any] = []
        while type(event := self._event()).__name__ != "SequenceEndEvent":
            values.append(self._value(event, depth))
        return values

    def _mapping(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while type(event := self._event()).__name__ != "MappingEndEvent":
            if type(event).__name__ != "ScalarEvent":
                raise InvalidYaml(f"a key that is no text, line {event.start_mark.line + 1}")
            key = _shown(event.value) if self._hidden else event.value
            if key in values:
                raise InvalidYaml(f"a key said twice, line {event.start_mark.line + 1}")
            values[key] = self._value(self._event(), depth)
        return values


def _shown(text: str) -> str:
    return _MARKED.sub(lambda found: _ODD[ord(found[1]) - 0x10FF00], text)
