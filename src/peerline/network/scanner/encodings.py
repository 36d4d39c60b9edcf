"""Texts inside a text: what stands there as base64 or as hexadecimal digits."""

import base64
from collections.abc import Iterator
from typing import Final

from peerline.network.scanner.patterns import compiled, plain_bytes

# The lines of an encoded block may carry marks of a quotation.
_BASE64: Final = r"[A-Za-z0-9+/_-]{20,}(?:\r?\n[ \t>|?]{0,8}[A-Za-z0-9+/_-]{4,})*={0,2}"
_HEX: Final = r"(?:[0-9A-Fa-f][0-9A-Fa-f]){16,}"
_BETWEEN_LINES: Final = b"\r\n \t>|?="
_URL_SAFE: Final = bytes.maketrans(b"-_", b"+/")
_TEXT: Final = bytes([9, 10, 13, *range(32, 127)])


def encoded_texts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the place and the content of each; what decodes to no text is left out."""
    data = plain_bytes(text)
    for match in compiled(_BASE64).finditer(data):
        digits = match.group().translate(_URL_SAFE, _BETWEEN_LINES)
        digits = digits[: -1 if len(digits) % 4 == 1 else None]
        inner = _as_text(base64.b64decode(digits + b"=" * (-len(digits) % 4)))
        if inner:
            yield match.start(), inner
    for match in compiled(_HEX).finditer(data):
        inner = _as_text(bytes.fromhex(match.group().decode("ascii")))
        if inner:
            yield match.start(), inner


def _as_text(data: bytes) -> str:
    """The bytes as text if that is what they are; two-byte characters count too."""
    if data.count(0) * 2 >= len(data) - 4:
        data = data.replace(b"\0", b"")
    if len(data) < 12 or len(data.translate(None, _TEXT)) * 10 > len(data):
        return ""
    return data.decode("utf-8", "replace")
