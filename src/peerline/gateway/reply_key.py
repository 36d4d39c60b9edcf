"""The reply key of a project folder: what POSIX `cksum` prints for its path (spec/network.md 9.3)."""

from typing import Final

_POLYNOMIAL: Final = 0x04C11DB7


def _entry(value: int) -> int:
    value <<= 24
    for _ in range(8):
        value = ((value << 1) ^ _POLYNOMIAL if value & 0x8000_0000 else value << 1) & 0xFFFF_FFFF
    return value


_TABLE: Final = tuple(_entry(value) for value in range(256))


def reply_key(folder: str) -> str:
    """`folder` as the session spells it: another spelling of the same place is another key."""
    data = folder.encode("utf-8", "surrogateescape")
    crc = 0
    for byte in data:
        crc = (crc << 8 & 0xFFFF_FFFF) ^ _TABLE[(crc >> 24) ^ byte]
    length = len(data)
    while length:
        crc = (crc << 8 & 0xFFFF_FFFF) ^ _TABLE[(crc >> 24) ^ (length & 0xFF)]
        length >>= 8
    return str(crc ^ 0xFFFF_FFFF)


def is_reply_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 10
