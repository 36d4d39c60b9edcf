"""Secrets that a single pattern does not tell: an encoded password of Docker, the data of a Kubernetes secret."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from peerline.network.scanner.values import placeholder

_DOCKER_AUTH: Final = re.compile(r'"auth"\s{0,4}:\s{0,4}"([A-Za-z0-9+/]{8,1000}={0,2})"')
_SECRET_KIND: Final = re.compile(
    r"""^[ \t>]{0,20}["']?kind["']?[ \t]{0,4}:[ \t]{0,4}["']?Secret["']?[ \t,]{0,8}$""", re.MULTILINE
)
_DATA: Final = re.compile(r"""^([ \t>]{0,20})["']?(?:stringData|data)["']?[ \t]{0,4}:[ \t{]{0,8}$""", re.MULTILINE)
_ENTRY: Final = re.compile(
    r"""([ \t>]{1,40})["']?[\w.-]{1,200}["']?[ \t]{0,4}:[ \t]{0,4}["']?([^\s"',]{4,2000})["']?,?[ \t]{0,8}"""
)

STRUCTURES: Final = ("docker-auth", "kubernetes-secret")


def structured(text: str) -> Iterator[tuple[str, int]]:
    """Yield rule and place (characters from the start) of each such secret."""
    if '"auth"' in text:
        for match in _DOCKER_AUTH.finditer(text):
            user, colon, password = _decoded(match[1]).partition(":")
            if user and colon and password and not placeholder(password):
                yield "docker-auth", match.start(1)
    if "Secret" in text and _SECRET_KIND.search(text):
        yield from _kubernetes(text)


def _kubernetes(text: str) -> Iterator[tuple[str, int]]:
    for head in _DATA.finditer(text):
        place = head.end() + 1
        while entry := _ENTRY.match(text, place):
            if len(entry[1]) <= len(head[1]):
                break
            value = entry[2]
            if not placeholder(value) and not placeholder(_decoded(value) or value):
                yield "kubernetes-secret", entry.start(2)
                break
            place = entry.end() + 1


def _decoded(value: str) -> str:
    """What the base64 text holds; empty if it is none or holds no text."""
    try:
        return base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
