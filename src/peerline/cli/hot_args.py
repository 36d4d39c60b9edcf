"""The parser of `kxm peer`, which reads the table of its verbs.

click takes neither `--targets a b` nor the 30 ms that a whole `kxm peer send` may last.
"""

from __future__ import annotations

from peerline.cli.hot_json import loads
from peerline.cli.hot_output import Failure, usage
from peerline.cli.hot_table import (
    BOUNDS,
    COMMON,
    CONTEXT,
    FIELDS,
    FLAG,
    INTEGER,
    KINDS,
    OBJECT,
    SHORT,
    VERBS,
    WORDS,
    options,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Call:
    """A parsed command line: the tool's `fields` and the `common` options, keyed as typed (`--as`)."""

    def __init__(self) -> None:
        self.verb = ""
        self.fields: dict[str, Any] = {}
        self.common: dict[str, Any] = {}
        self.words: list[str] = []
        self.file: str | None = None
        self.stdin = False


def parse(argv: list[str], call: Call) -> None:
    """Fill `call` from the words after `kxm peer`; it holds what was read so far also when this fails.

    Raises:
        Failure: usage_error or invalid_payload. The text never repeats a value, which may be a secret.
    """
    queue = list(argv)
    given: dict[str, Any] = {}
    while queue:
        word = queue.pop(0)
        if word == "--":
            call.words += queue
            break
        if not word.startswith("-") or word == "-":
            if call.verb:
                call.words.append(word)
            elif word in VERBS:
                call.verb = word
            else:
                raise unknown("command", word, VERBS)
            continue
        name, equals, value = word.partition("=")
        _option(call, SHORT.get(name, name), value if equals else None, queue, given)
    if "--help" in call.common or "--version" in call.common:
        return
    if not call.verb:
        raise usage("a command is missing: " + ", ".join(VERBS))
    _fields(call, given)


def _option(call: Call, name: str, value: str | None, queue: list[str], given: dict[str, Any]) -> None:
    fields = options(call.verb) if call.verb else {}
    if name in COMMON:
        takes = COMMON[name][0]
        call.common[name] = _value(name, value, queue, call) if takes else _flag(name, value)
    elif name == "--file" and "--content" in fields:
        call.file = _value(name, value, queue, call)
    elif name not in fields:
        file = ("--file",) if "--content" in fields else ()
        raise unknown("option", name, (*fields, *file, *COMMON))
    else:
        field = fields[name]
        kind = FIELDS[field][0]
        if kind == FLAG:
            given[field] = _flag(name, value)
        elif kind == WORDS:
            given.setdefault(field, []).extend(_words(name, value, queue))
        else:
            given[field] = _typed(name, field, kind, _value(name, value, queue, call))


def _flag(name: str, value: str | None) -> bool:
    if value is not None:
        raise usage(f"{name} takes no value")
    return True


def _value(name: str, value: str | None, queue: list[str], call: Call) -> str:
    if value is not None:
        return value
    known = {*COMMON, *SHORT, "--file", "--", *(options(call.verb) if call.verb else ())}
    if not queue or queue[0].partition("=")[0] in known:
        raise usage(f"{name} needs a value")
    return queue.pop(0)


def _words(name: str, value: str | None, queue: list[str]) -> list[str]:
    words = [] if value is None else [value]
    while value is None and queue and not queue[0].startswith("-"):
        words.append(queue.pop(0))
    if not words:
        raise usage(f"{name} needs at least one value")
    return words


def _typed(name: str, field: str, kind: str, text: str) -> Any:
    if kind == INTEGER:
        # The hub judges the range; what is no integer at all cannot be sent as one.
        if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 19):
            raise usage(f"{field} must be an integer" + BOUNDS.get(field, ""))
        return int(text)
    if kind == OBJECT:
        return _object(name, text)
    return text


def _object(name: str, text: str) -> dict[str, Any]:
    try:
        value = loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Failure(f"{name} must be a JSON object", error="invalid_payload", exit_code=2)
    return value


def _fields(call: Call, given: dict[str, Any]) -> None:
    allowed = options(call.verb)
    payload = _object("--payload", call.common["--payload"]) if "--payload" in call.common else {}
    for field, value in payload.items():
        if field not in allowed.values():
            raise unknown("field", field, tuple(allowed.values()), error="invalid_payload")
        _check(field, value)
    open_places = [field for field in VERBS[call.verb][0] if field not in given]
    if call.file is not None:
        open_places = [field for field in open_places if field != "content"]
        if "content" in given:
            raise usage("--content and --file exclude each other")
    if len(call.words) > len(open_places):
        raise usage(f"too many arguments: {call.verb} takes {len(VERBS[call.verb][0])}; quote a text with spaces")
    given.update(zip(open_places, call.words, strict=False))
    merged = {**payload, **given}
    call.stdin = given.get("content") == "-"
    call.fields = {field: merged[field] for field in allowed.values() if merged.get(field) is not None}


def require(call: Call) -> None:
    """Raise for what is missing or cannot be right, once the body has been read."""
    for field in VERBS[call.verb][2]:
        value = call.fields.get(field)
        if value is None:
            raise usage(f"{field} is required")
        if value in ("", []):
            raise usage(f"{field} cannot be empty")
    context = call.fields.get("workflowContext")
    if context is not None:
        for member in CONTEXT:
            if context.get(member) in (None, ""):
                raise usage(f"workflowContext.{member} is required")
        attempt = context["attempt"]
        if type(attempt) is not int or not 1 <= attempt <= 20:
            raise usage("workflowContext.attempt must be an integer between 1 and 20")


def _check(field: str, value: Any) -> None:
    kind = FIELDS[field][0]
    type_, name = KINDS[kind]
    good = value is None or (isinstance(value, type_) and (kind == FLAG or not isinstance(value, bool)))
    if good and kind == WORDS and value is not None:
        good = all(isinstance(word, str) for word in value)
    if not good:
        raise Failure(f"{field} must be {name}{BOUNDS.get(field, '')}", error="invalid_payload", exit_code=2)


def unknown(what: str, name: str, known: Any, error: str = "usage_error") -> Failure:
    """A typing error is named and corrected; anything that could be a secret is not repeated."""
    from difflib import get_close_matches

    plain = name.lstrip("-").replace("-", "")
    named = f": {name}" if len(plain) <= 24 and plain.isascii() and plain.isalpha() else ""
    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]}?" if near else ""
    return Failure(f"unknown {what}{named}{hint}", error=error, exit_code=2)
