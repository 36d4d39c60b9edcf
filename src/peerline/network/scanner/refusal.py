"""The scanner's judgement on a post or a profile before it reaches Git, where nothing can be taken back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol

from peerline.core.errors import Forbidden, Invalid, PersonOnly
from peerline.core.post_draft import REASON, InvalidPost
from peerline.network.scanner.finding import FieldFinding, Finding
from peerline.network.scanner.personal import personal_data
from peerline.network.scanner.policy import DEFAULT, ScanPolicy
from peerline.network.scanner.scan import FINDINGS_AT_MOST, placed, scan

_DEPTH: Final = 8
_PLAIN_NAME: Final = re.compile(r"[a-z]{1,20}(?:_[a-z]{1,20}){0,4}")


class SecretDetected(Forbidden):
    """A text holds what looks like a secret; the places are told, the value never (spec/network.md 10)."""

    code = "SECRET_DETECTED"

    def __init__(self, findings: Sequence[FieldFinding]) -> None:
        self.findings = tuple(findings)
        shown = [f"  {one}" for one in self.findings[:5]]
        if len(self.findings) > len(shown):
            shown.append(f"  and {len(self.findings) - len(shown)} more")
        super().__init__("\n".join(("refused to send: possible secret detected", *shown, *_WHAT_NOW)))


_WHAT_NOW: Final = (
    "  Git history is permanent: a leaked credential can only be replaced, not recalled.",
    "  Take it out, or say where it is kept. If it is none, a person at a terminal can say so with --force-unsafe.",
)


class Written(Protocol):
    """What of a post or a draft reaches Git in somebody's words."""

    @property
    def body(self) -> str: ...
    @property
    def mentions(self) -> tuple[str, ...]: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def refs(self) -> tuple[str, ...]: ...
    @property
    def unsafe_reason(self) -> str | None: ...
    @property
    def groups(self) -> Mapping[str, object]: ...


def require_no_secret(post: Written, policy: ScanPolicy = DEFAULT) -> None:
    """Refuse a post that holds a secret in any field, or more than the network takes.

    A post with an `unsafe_reason` was allowed to a person by `override_reason`; what is looked at then is that reason
    alone. Call it where a post is accepted, and again where it is written: what was edited in between is judged too.

    Raises:
        SecretDetected
        InvalidPost: the body is longer than the network takes.
    """
    size = len(post.body.encode("utf-8", "replace"))
    if size > policy.max_body_bytes:
        raise InvalidPost(f"the body is {size:,} bytes long; this network takes at most {policy.max_body_bytes:,}")
    fields: dict[str, object] = {"unsafe_reason": post.unsafe_reason}
    if post.unsafe_reason is None:
        fields = {
            "body": post.body,
            "tags": post.tags,
            "refs": post.refs,
            "mentions": post.mentions,
            **post.groups,
            **getattr(post, "extra", {}),
        }
    require_no_secret_in(fields, policy)


def require_no_secret_in(fields: Mapping[str, object], policy: ScanPolicy = DEFAULT) -> None:
    """Refuse texts, by the name of their field; lists and mappings are gone through.

    Raises:
        SecretDetected
    """
    findings = scan_fields(fields, policy)
    if findings:
        raise SecretDetected(findings)


def scan_fields(fields: Mapping[str, object], policy: ScanPolicy = DEFAULT) -> list[FieldFinding]:
    """The findings of every field, at most 50."""
    found: list[FieldFinding] = []
    for name, text in _texts("", fields, 0):
        found += [FieldFinding(name, finding) for finding in _scanned(text, policy)]
        if len(found) >= FINDINGS_AT_MOST:
            return found[:FINDINGS_AT_MOST]
    return found


def override_reason(reason: str, *, person_at_terminal: bool, own_words: bool) -> str:
    """The reason with which a person sends their own words although the scanner refused them.

    It is published with the post for good, so it is scanned itself. No agent, tool, daemon or gateway may override.

    Raises:
        PersonOnly: it is not a person at the terminal, or not about their own words.
        Invalid: the reason says nothing, or is not one line.
        SecretDetected: the reason holds a secret.
    """
    if not person_at_terminal:
        raise PersonOnly(
            "--force-unsafe is for a person at a terminal; an agent, a script, a tool or a gateway reports the refusal "
            "to the person instead"
        )
    if not own_words:
        raise PersonOnly("--force-unsafe is about a person's own words; this text is somebody else's")
    reason = reason.strip()
    if len(reason) < 8 or len(reason) > REASON or "\n" in reason:
        raise Invalid(f"--force-unsafe needs a reason: one line of 8 to {REASON} characters, published with the post")
    require_no_secret_in({"unsafe_reason": reason})
    return reason


def _scanned(text: str, policy: ScanPolicy) -> Iterator[Finding]:
    if policy.enabled:
        yield from scan(text, policy.patterns)
    if policy.personal_data:
        for rule, place in personal_data(text):
            yield placed(text, rule, place)


def _texts(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Every text with the path that leads to it; the names in a mapping are texts too, and shown only if plain."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, Mapping) and depth < _DEPTH:
        for key, inner in value.items():
            plain = _PLAIN_NAME.fullmatch(str(key)) is not None
            path = str(key) if plain else "a member"
            path = f"{name}.{path}" if name else path
            if not plain:
                yield f"{path}'s name", str(key)
            yield from _texts(path, inner, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, bytes) and depth < _DEPTH:
        for at, inner in enumerate(value):
            yield from _texts(f"{name}[{at}]", inner, depth + 1)
