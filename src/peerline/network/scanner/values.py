"""Is this value a secret or does it only stand where one could? Placeholders, references, and how random it looks."""

import math
import re
from collections import Counter
from itertools import pairwise
from typing import Final

ENTROPY: Final = 3.2
"""Bits a character that a value beside a telling name needs (spec/network.md 10)."""

_BRACKETED: Final = re.compile(
    r"<.*|\{.*|\[.*|\(.*|\$[A-Za-z_({].*|%[A-Za-z_]+%|.*\.\.\.|\*+|[xX]{3,}|\.{3,}|-{3,}|…+", re.DOTALL
)
_STAND_INS: Final = ("example", "dummy", "placeholder", "redacted", "your")
_SPLIT: Final = re.compile(r"[-_.:/ ]+|(?<=[a-z])(?=[A-Z])")
# A value made of nothing but these words is what an example says instead of the secret.
_SAID: Final = """
a access account actual admin an and any api app auth bar basic baz bearer change changeme client credential
credentials custom database db default demo dummy empty enter env example fake field file foo generated goes guest
here hidden host id in input insert it key last local me missing mock my name new no none not null of old omitted or
our pass passphrase passwd password placeholder postgres private project public pw real redacted removed replace
required root sample secret set some string test testing text the this to todo token type undefined unset url user
username value var variable with xxx xxxx your
"""
_WORDS: Final = frozenset(_SAID.split())
_NUMBERED: Final = re.compile(
    r"(?:abc|foo|bar|test|changeme|pass|password|secret|token|key|user)?(?:0?123(?:4(?:5(?:67?8?9?0?)?)?)?|\d)?"
)
# An unquoted expression or path of a program: settings.api_key, get_token(), Option<String>, ./secrets/key
_REFERENCE: Final = re.compile(
    r"[&*]?[A-Za-z_][A-Za-z_0-9]*(?:(?:\.|::|->|\?\.)[A-Za-z_][A-Za-z_0-9]*)*!?[(\[<{].*"
    r"|[A-Za-z_]+(?:(?:\.|::|->|\?\.|/|-)[A-Za-z_]+)*[?:.)\]}>|`]*",
    re.DOTALL,
)
_PATH: Final = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][{<:$]?[A-Za-z_.][\w.@-]*[}>]?)+[/\\]?")
_VARIABLE: Final = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_ADDRESS: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//[^@]*", re.IGNORECASE)
_NOT_CREDENTIALS: Final = re.compile(r"(?:sha\d+|md5|uuid|urn|arn|refs|did)[:/-].*", re.IGNORECASE)


def placeholder(value: str) -> bool:
    """A stand-in that an example or a template has in place of the secret.

    The whole value has to say so: `my-Xk3…` is no placeholder because it starts like one.
    """
    if len(set(value)) <= 2 or _BRACKETED.fullmatch(value):
        return True
    if "EXAMPLE" in value:
        return True
    return all(word.lower() in _WORDS or _NUMBERED.fullmatch(word.lower()) for word in _SPLIT.split(value) if word)


def blank_token(value: str) -> bool:
    """A token's shape filled with one letter, or with words: `ghp_xxxxxxxx`."""
    return len(set(value[-16:])) <= 3 or any(word in value.lower() for word in _STAND_INS)


def leads_elsewhere(value: str) -> bool:
    """A path, an address or a variable's name instead of the secret, or the digest of something."""
    if _PATH.fullmatch(value):  # base64 may begin with a slash as well
        return not any(len(part) >= 12 and random_looking(part) for part in re.split(r"[/\\]", value))
    return any(shape.fullmatch(value) for shape in (_ADDRESS, _VARIABLE, _NOT_CREDENTIALS))


def reference(value: str) -> bool:
    """Outside of quotes: an expression, a name or a path that leads to a secret instead of being one."""
    return (bool(_REFERENCE.fullmatch(value)) and not (value.isalpha() and _mixed_case(value))) or leads_elsewhere(
        value
    )


def _mixed_case(value: str) -> bool:
    """Half of the letters are capitals, here and there, as no name has it."""
    letters = [c for c in value if c.isalpha()]
    capitals = sum(c.isupper() for c in letters)
    turns = sum(a.islower() != b.islower() for a, b in pairwise(letters))
    return 0.3 * len(letters) <= capitals <= 0.7 * len(letters) and turns >= 4


def entropy(value: str) -> float:
    """Shannon's, in bits a character."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())


def kinds(value: str) -> int:
    """How many of lower case, upper case, digit and other are there."""
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(not c.isalnum() for c in value)
    )


def random_looking(value: str) -> bool:
    """Letters and digits stand mixed as no name or word has them."""
    turns = sum((a.isalpha() and b.isdigit()) or (a.isdigit() and b.isalpha()) for a, b in pairwise(value))
    return turns >= 3 or _mixed_case(value)


def credential(value: str) -> bool:
    """Random enough for what stands beside `password =`."""
    if value.isdigit() or placeholder(value):
        return False
    bits = entropy(value)
    return bits >= ENTROPY or (kinds(value) >= 3 and bits >= 2.5)
