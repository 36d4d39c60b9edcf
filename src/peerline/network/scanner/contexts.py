"""Secrets that only their surroundings tell: `password = …`, an Authorization header, an address with a password."""

import re
from typing import Final

from peerline.network.scanner.rule import Rule
from peerline.network.scanner.values import credential, entropy, kinds, leads_elsewhere, placeholder, reference

_NAMES: Final = (
    r"(?:passwd|password|passphrase|passcode|pwd|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|encryption[_-]?key|signing[_-]?key|account[_-]?key|master[_-]?key|license[_-]?key|service[_-]?key)"
)
# What follows in the name. With `_id`, `Name` or `_path` the value only tells where the secret is.
_ENDING: Final = r"[A-Za-z0-9_.-]{0,24}"
_ABOUT: Final = re.compile(
    r"(?:ids?|names?|path|file|dir|folder|url|uri|endpoint|hash|digest|type|count|length|len|size|limit|ttl|expir\w*"
    r"|lifetime|env|var|arn|refs?|labels?|titles?|fields?|policy|prefix|suffix|regex|pattern|rules?|version|format"
    r"|header|budget|usage|scopes?|class|param|provider|store|manager|source|status|error|at|s_in|s_out)"
)


# Where a call's or a list's bracket closes, the value of an unquoted argument has ended.
_CLOSED: Final = re.compile(r"[)\]}](?=[.,;:)\]}]|$)")


def _value_of_assignment(value: str) -> bool:
    own = _CLOSED.split(value, maxsplit=1)[0]
    return len(own) >= 8 and credential(own) and not reference(own)


def _quoted_value(value: str) -> bool:
    return credential(value) and not leads_elsewhere(value) and not (value.isalpha() and value.islower())


def _password_in_address(value: str) -> bool:
    return not placeholder(value) and not value.startswith("$")


def _header_value(value: str) -> bool:
    return entropy(value) >= 3.0 and not placeholder(value) and not reference(value)


def _spoken(value: str) -> bool:
    bare = value.rstrip(".)!?:")
    return (
        len(bare) >= 8 and kinds(bare) >= 3 and entropy(bare) >= 2.5 and not placeholder(bare) and not reference(bare)
    )


def _assignment(value: str) -> str:
    return rf"(?i){_NAMES}({_ENDING})[\"'`]?\]?[ \t]{{0,3}}(?::=|=>|=|[ \t]={{2,3}}|:)[ \t]{{0,3}}{value}"


def describes(ending: str) -> bool:
    """Does the rest of a name (`_id`, `Name`, `-path`) say that the value is something about the secret?"""
    words = [word.lower() for word in re.split(r"[_.-]+|(?<=[a-z])(?=[A-Z])", ending) if word]
    return bool(words) and bool(_ABOUT.fullmatch(words[-1]))


# The last group of an assignment is the value, the first the rest of its name.
ASSIGNMENTS: Final[tuple[Rule, ...]] = (
    Rule("credential-assignment", _assignment(r"[brfu]?[\"']([^\s\"'`,;]{8,})[\"']"), _quoted_value),
    Rule("credential-assignment", _assignment(r"`([^\s\"'`,;]{8,})`"), _value_of_assignment),
    Rule("credential-assignment", _assignment(r"([^\s\"'`,;]{8,})"), _value_of_assignment),
    Rule("credential-assignment", rf"(?i)<[\w:.-]{{0,40}}{_NAMES}({_ENDING})>\s{{0,4}}([^<\s]{{8,}})<", _quoted_value),
    Rule(
        "credential-assignment",
        rf"(?i)--[a-z-]{{0,24}}{_NAMES}({_ENDING})\s[\"']?([^\s\"'`,;-][^\s\"'`,;]{{7,}})",
        _value_of_assignment,
    ),
)

CONTEXTS: Final[tuple[Rule, ...]] = (
    Rule(
        "connection-string-password",
        r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'`<>]*:([^\s/@\"'`<>]{3,})@[A-Za-z0-9\[$]",
        _password_in_address,
    ),
    Rule(
        "connection-string-password",
        r"(?i)\b(?:pwd|password)=([^\s;\"']{3,});",
        lambda value: not placeholder(value) and not reference(value),
    ),
    Rule(
        "authorization-header",
        r"(?i)\bauthorization[\"']?\]?[ \t]{0,3}[:=][ \t]{0,3}[\"'`]?"
        r"(?:bearer|token|basic|digest|apikey|key)[ \t]{1,3}([^\s\"'`,;]{8,})",
        _header_value,
    ),
    Rule(
        "authorization-header",
        r"(?i)\b(?:x-api-key|x-auth-token|api-key)[\"']?:[ \t]{0,3}[\"'`]?([^\s\"'`,;]{8,})",
        _header_value,
    ),
    Rule(
        "authorization-header",
        r"\b[Bb]earer ([A-Za-z0-9_.~+/=-]{20,})",
        lambda value: _header_value(value) and kinds(value) >= 2,
    ),
    Rule("curl-user", r"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?[\"']?[^\s:\"'$]+:([^\s\"']{3,})", _password_in_address),
    Rule("netrc-password", r"(?i)\blogin\s{1,8}\S+\s{1,8}password\s{1,8}(\S{3,})", _password_in_address),
    Rule(
        "spoken-password",
        r"(?i)\b(?:password|passphrase|passcode)\s(?:is|was)\s{0,2}:?\s{0,2}[\"'`]?([^\s\"'`,;]{8,100})",
        _spoken,
    ),
)
