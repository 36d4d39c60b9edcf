"""A post with a secret in any field is refused, and only a person overrides that, about their own words."""

import logging
import random

import pytest

from peerline.core.errors import Invalid, PersonOnly
from peerline.core.post_draft import InvalidPost, draft
from peerline.network.scanner.policy import ScanPolicy
from peerline.network.scanner.refusal import (
    SecretDetected,
    override_reason,
    require_no_secret,
    require_no_secret_in,
    scan_fields,
)
from tests.network.scanner.secrets_corpus import filled

SECRET = filled("ghp_{alnum:36}", random.Random(3))
TASK = {
    "task_id": "01M8NYQAWTMHAER6TCK0F8D7SP",
    "task_state": "open",
    "task_action": "created",
    "task_creator": "alice-cursor",
    "task_title": f"rotate {SECRET}",
    "task_stale_after_seconds": 86_400,
}


@pytest.mark.requirement("RELAY-SCANNER-REFUSES")
@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("body", {"body": f"a\nkey {SECRET} please"}),
        ("tags[1]", {"tags": ["ok", SECRET]}),
        ("refs[0]", {"refs": [f"acme/payments@{SECRET}:src/a.py"]}),
        ("task_title", {"groups": TASK}),
    ],
)
def test_a_secret_in_any_field_of_a_post_is_refused(field: str, fields: dict[str, object]) -> None:
    post = draft(**{"room": "build", "body": "hello", **fields})  # type: ignore[arg-type]
    with pytest.raises(SecretDetected) as refused:
        require_no_secret(post)
    assert refused.value.code == "SECRET_DETECTED"
    assert [(one.field, one.finding.rule) for one in refused.value.findings] == [(field, "github-token")]
    assert f"github-token in {field} at line" in refused.value.text


def test_a_plain_post_passes() -> None:
    require_no_secret(draft(room="build", body="the token refresh is fixed", tags=["relay"], refs=["acme/a@1f2e3d4:b"]))


def test_members_nobody_knows_are_looked_at_with_their_names() -> None:
    with pytest.raises(SecretDetected) as refused:
        require_no_secret_in({"extra": {"x_note": ["a", {SECRET: 1}]}, "profile": {"mission": f"use {SECRET}"}})
    assert [one.field for one in refused.value.findings] == ["extra.x_note[1].a member's name", "profile.mission"]


@pytest.mark.requirement("RELAY-SCANNER-REFUSES")
def test_a_refusal_never_says_the_value(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(SecretDetected) as refused:
        require_no_secret_in({"body": SECRET, "tags": [SECRET], SECRET: "x"})
    logging.getLogger("peerline").warning("refused", exc_info=refused.value)
    shown = f"{refused.value!r} {refused.value} {refused.value.text} {refused.value.args} {refused.value.extras}"
    assert SECRET[8:] not in shown + repr(refused.value.findings) + refused.value.args[0]
    assert SECRET[8:] not in caplog.records[0].getMessage()


def test_many_findings_are_cut() -> None:
    found = scan_fields({"tags": [SECRET] * 500})
    assert len(found) == 50
    assert len(SecretDetected(found).text) < 1_000


def test_a_body_longer_than_the_network_takes_is_refused() -> None:
    with pytest.raises(InvalidPost, match="at most 10"):
        require_no_secret(draft(room="build", body="hello there"), ScanPolicy(max_body_bytes=10))


@pytest.mark.requirement("RELAY-FORCE-UNSAFE")
def test_a_person_at_the_terminal_overrides_about_their_own_words() -> None:
    reason = override_reason("  the example key of the docs ", person_at_terminal=True, own_words=True)
    assert reason == "the example key of the docs"
    require_no_secret(draft(room="build", body=SECRET, unsafe_reason=reason))


@pytest.mark.requirement("RELAY-FORCE-UNSAFE")
@pytest.mark.parametrize(("person_at_terminal", "own_words"), [(False, True), (False, False), (True, False)])
def test_nobody_else_overrides(person_at_terminal: bool, own_words: bool) -> None:
    with pytest.raises(PersonOnly, match="--force-unsafe"):
        override_reason("because it is safe", person_at_terminal=person_at_terminal, own_words=own_words)


@pytest.mark.parametrize("reason", ["", "ok", "   x    ", "two\nlines of reason", "x" * 501])
def test_a_reason_has_to_be_one(reason: str) -> None:
    with pytest.raises(Invalid, match="needs a reason"):
        override_reason(reason, person_at_terminal=True, own_words=True)


def test_the_reason_itself_is_scanned_when_given_and_when_written() -> None:
    with pytest.raises(SecretDetected, match="unsafe_reason"):
        override_reason(f"it is only {SECRET}", person_at_terminal=True, own_words=True)
    with pytest.raises(SecretDetected, match="unsafe_reason"):
        require_no_secret(draft(room="build", body="hello", unsafe_reason=f"it is only {SECRET}"))
