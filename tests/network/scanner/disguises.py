"""Ways in which a secret is written so that no plain pattern finds it, by accident or not."""

import base64
import random
import urllib.parse
from collections.abc import Callable
from typing import Final


def _cut(text: str, chance: random.Random) -> tuple[str, str]:
    at = chance.randrange(len(text) // 4, 3 * len(text) // 4)
    return text[:at], text[at:]


def _wrapped(between: str) -> Callable[[str, random.Random], str]:
    def disguise(secret: str, chance: random.Random) -> str:
        head, tail = _cut(secret, chance)
        return f"the value is {head}{between}{tail} as of today"

    return disguise


def _narrow(secret: str, chance: random.Random) -> str:
    width = max(10, len(secret) // 4 + 1)
    return "key:\n" + "\n".join(secret[at : at + width] for at in range(0, len(secret), width)) + "\nplease rotate"


def _between(mark: str) -> Callable[[str, random.Random], str]:
    return lambda secret, chance: "value " + mark.join(secret) + " end"


def _one_mark(mark: str) -> Callable[[str, random.Random], str]:
    def disguise(secret: str, chance: random.Random) -> str:
        head, tail = _cut(secret, chance)
        return f"see {head}{mark}{tail} there"

    return disguise


def _wide(secret: str, chance: random.Random) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in secret)


def _twins(secret: str, chance: random.Random) -> str:
    return secret.translate(str.maketrans("ABCEHKMOPTXaceopxy", "АВСЕНКМОРТХасеорху"))


def _base64_lines(secret: str, chance: random.Random) -> str:
    return base64.encodebytes(f"# settings of the job\n# do not share\nuser=deploy\nvalue={secret}\n".encode()).decode()


def _base64_quoted(secret: str, chance: random.Random) -> str:
    return "\n".join("> " + line for line in _base64_lines(secret, chance).splitlines())


DISGUISES: Final[dict[str, Callable[[str, random.Random], str]]] = {
    "wrapped line": _wrapped("\n"),
    "wrapped line, indented": _wrapped("\n    "),
    "wrapped line of a quotation": _wrapped("\n> "),
    "wrapped line of CRLF": _wrapped("\r\n"),
    "wrapped line of a rendered body": _wrapped("\n│ "),
    "continued by a backslash": _wrapped("\\\n"),
    "in narrow lines": _narrow,
    "concatenated": lambda s, c: 'x = "' + '" + "'.join(_cut(s, c)) + '"',
    "concatenated over lines": lambda s, c: "x = ('" + "'\n     '".join(_cut(s, c)) + "')",
    "concatenated by dots": lambda s, c: "$x = '" + "' . '".join(_cut(s, c)) + "';",
    "in bold": lambda s, c: "the key: " + "**".join(_cut(s, c)) + "**",
    "zero-width space": _one_mark("\u200b"),
    "zero-width joiners everywhere": _between("\u200d"),
    "soft hyphen": _one_mark("\u00ad"),
    "byte order mark": _one_mark("\ufeff"),
    "variation selector": _one_mark("\ufe0f"),
    "tag characters": _one_mark("\U000e0041"),
    "full width": _wide,
    "look-alike letters": _twins,
    "spaced letters": _between(" "),
    "percent, every character": lambda s, c: "".join(f"%{ord(x):02X}" for x in s),
    "percent, as a browser does": lambda s, c: "https://acme.test/?k=" + urllib.parse.quote("a b " + s, safe=""),
    "percent, twice": lambda s, c: "".join(f"%25{ord(x):02x}" for x in s),
    "JSON escapes": lambda s, c: "".join(f"\\u{ord(x):04x}" for x in s),
    "hexadecimal escapes": lambda s, c: "".join(f"\\x{ord(x):02x}" for x in s),
    "HTML entities": lambda s, c: "".join(f"&#{ord(x)};" for x in s),
    "HTML entities, hexadecimal": lambda s, c: "".join(f"&#x{ord(x):x};" for x in s),
    "line break written as an escape": lambda s, c: f'{{"log": "started\\n{s}\\ndone"}}',
    "base64": lambda s, c: "blob " + base64.b64encode(s.encode()).decode(),
    "base64 of a sentence": lambda s, c: base64.b64encode(f"the key is {s}, rotate it".encode()).decode(),
    "base64, twice": lambda s, c: base64.b64encode(base64.b64encode(f"key {s} end".encode())).decode(),
    "base64 for addresses": lambda s, c: base64.urlsafe_b64encode(f"~~??{s}>>".encode()).decode().rstrip("="),
    "base64 in lines": _base64_lines,
    "base64 in quoted lines": _base64_quoted,
    "base64 of two-byte characters": lambda s, c: "powershell -e " + base64.b64encode(s.encode("utf-16-le")).decode(),
    "hexadecimal digits": lambda s, c: "dump " + s.encode().hex(),
}
