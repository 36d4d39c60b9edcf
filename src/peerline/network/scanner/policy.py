"""What a network's `.komnet/policy.yaml` says about posts: read with bounds; what is wrong in it is told, not fatal.

The file is the members' (whoever may push can write it), so no entry of it may cost time without bound or refuse every
post.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from peerline.core.fence import visible
from peerline.core.post import BODY_BYTES
from peerline.network.scanner.patterns import NotAPattern, compiled_for_text
from peerline.network.scanner.rule import OwnPattern

PATTERNS_AT_MOST: Final = 50
PATTERN_LENGTH: Final = 500
PROGRAM_AT_MOST: Final = 5_000
"""Instructions of all patterns together; RE2's time is at most their number times the length of the text."""

PERSONAL_DATA: Final = "personal_data"

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPolicy:
    """`notices` are sentences for a person about what the file says and we do not, or only in part, follow."""

    enabled: bool = True
    patterns: tuple[OwnPattern, ...] = ()
    max_body_bytes: int = BODY_BYTES
    personal_data: bool = False
    notices: tuple[str, ...] = ()


DEFAULT: Final = ScanPolicy()


def scan_policy(document: object) -> ScanPolicy:
    """The policy from the file's document as read; None where the network has no such file (spec/network.md 3.3)."""
    if document is None:
        return DEFAULT
    if not isinstance(document, Mapping):
        return ScanPolicy(notices=("policy.yaml is no mapping; the defaults hold",))
    notices: list[str] = []
    found = document.get("secret_scan", {})
    if not isinstance(found, Mapping):
        notices.append("policy.yaml: secret_scan is no mapping; the defaults hold")
        found = {}
    return ScanPolicy(
        enabled=_enabled(found.get("enabled", True), notices),
        patterns=tuple(_patterns(found.get("extra_patterns"), notices)),
        max_body_bytes=_size(found.get("max_body_bytes", BODY_BYTES), notices),
        personal_data=_forbids_personal_data(document.get("forbid"), notices),
        notices=tuple(notices),
    )


def _enabled(value: object, notices: list[str]) -> bool:
    if value is False:
        notices.append("this network has switched the secret scan off (policy.yaml: secret_scan.enabled)")
        return False
    if value is not True:
        notices.append("policy.yaml: secret_scan.enabled is neither true nor false; the scan stays on")
    return True


def _size(value: object, notices: list[str]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        notices.append(f"policy.yaml: secret_scan.max_body_bytes is no size; {BODY_BYTES:,} holds")
        return BODY_BYTES
    if value > BODY_BYTES:
        notices.append(f"policy.yaml: secret_scan.max_body_bytes is above {BODY_BYTES:,}, which no reader takes")
    return min(value, BODY_BYTES)


def _forbids_personal_data(value: object, notices: list[str]) -> bool:
    if value is None:
        return False
    listed = value if isinstance(value, list) else [value]
    for one in listed[:PATTERNS_AT_MOST]:
        if one != PERSONAL_DATA:
            notices.append(f"policy.yaml: forbid {visible(str(one), 40)} is not known here, so nothing looks for it")
    return PERSONAL_DATA in listed


def _patterns(value: object, notices: list[str]) -> Iterator[OwnPattern]:
    if value is None:
        return
    if not isinstance(value, list):
        notices.append("policy.yaml: secret_scan.extra_patterns is no list; none is used")
        return
    if len(value) > PATTERNS_AT_MOST:
        notices.append(f"policy.yaml: only the first {PATTERNS_AT_MOST} of secret_scan.extra_patterns are used")
    room = PROGRAM_AT_MOST
    for number, entry in enumerate(value[:PATTERNS_AT_MOST], 1):
        pattern, fault = _compiled(entry)
        if not fault and pattern.programsize > room:
            fault = "it is too large, alone or with those before it"
        if fault:
            notices.append(f"policy.yaml: pattern {number} of secret_scan.extra_patterns is not used: {fault}")
            continue
        room -= pattern.programsize
        yield OwnPattern(_name(entry.get("name"), number), pattern)


def _name(value: object, number: int) -> str:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else f"network-pattern-{number}"


def _compiled(entry: object) -> tuple[Any, str]:
    """The pattern, or why it cannot be used."""
    text = entry.get("pattern") if isinstance(entry, Mapping) else None
    if not isinstance(text, str) or not text:
        return None, "it has no text `pattern`"
    if len(text) > PATTERN_LENGTH:
        return None, f"it is longer than {PATTERN_LENGTH} characters"
    try:
        pattern = compiled_for_text(text)
    except NotAPattern:
        return None, "RE2 does not take it (no look-around, no back reference)"
    if pattern.search("") is not None:
        return None, "it fits every text"
    return pattern, ""
