"""A network's own policy: applied, bounded, and told where it cannot be followed."""

import pytest

from peerline.core.post import BODY_BYTES
from peerline.network.scanner.finding import Finding
from peerline.network.scanner.policy import DEFAULT, ScanPolicy, scan_policy
from peerline.network.scanner.refusal import scan_fields
from peerline.wire.yaml_core import load

WITH_PATTERN = """
v: 1
secret_scan:
  enabled: true
  extra_patterns:
    - name: acme-internal-token
      pattern: "acme_[a-z0-9]{32}"
  max_body_bytes: 65536
forbid:
  - personal_data
"""


def test_no_file_means_the_defaults() -> None:
    assert scan_policy(None) == DEFAULT == ScanPolicy()
    assert (DEFAULT.enabled, DEFAULT.max_body_bytes, DEFAULT.notices) == (True, BODY_BYTES, ())


def test_a_policy_as_the_protocol_shows_it_is_followed() -> None:
    policy = scan_policy(load(WITH_PATTERN))
    assert (policy.enabled, policy.max_body_bytes, policy.personal_data, policy.notices) == (True, 65_536, True, ())
    found = scan_fields({"tags": ["ok", "acme_" + "0a" * 16]}, policy)
    assert [(one.field, one.finding) for one in found] == [("tags[1]", Finding(1, 1, "acme-internal-token"))]


def test_a_networks_pattern_sees_through_disguises_too() -> None:
    policy = scan_policy(load(WITH_PATTERN))
    assert scan_fields({"body": "see acme_" + "0a" * 8 + "\u200b" + "0a" * 8}, policy)


def test_a_switched_off_scan_is_told_and_forbidden_data_is_still_looked_for() -> None:
    policy = scan_policy(load("secret_scan: {enabled: false}\nforbid: [personal_data]"))
    assert not policy.enabled
    assert any("switched the secret scan off" in notice for notice in policy.notices)
    assert scan_fields({"body": "AKIA" + "Q" * 8 + "Z8Y7X6W5"}, policy) == []
    assert [f.finding.rule for f in scan_fields({"body": "pay to DE89 3704 0044 0532 0130 00"}, policy)] == [
        "personal-data-iban"
    ]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("'(?=x)'", "look-around"),
        ("'[a-'", "RE2"),
        ("'(a)\\1'", "back reference"),
        ("'a*'", "fits every text"),
        ("''", "no text"),
        ("7", "no text"),
        ("'" + "a" * 600 + "'", "longer than"),
        ("'((a{100}){100}){100}'", "RE2"),
        ("'(x{1,900}y){1,900}'", "RE2"),
        ("'[a-z]{900}[0-9]{900}(?:foo|bar){900}'", "too large"),
    ],
)
def test_a_bad_pattern_is_told_and_the_others_hold(pattern: str, why: str) -> None:
    document = load(f"secret_scan:\n  extra_patterns:\n    - pattern: {pattern}\n    - pattern: 'zq[0-9]{{6}}'")
    policy = scan_policy(document)
    assert len(policy.notices) == 1
    assert "pattern 1" in policy.notices[0]
    assert why in policy.notices[0]
    assert [f.finding.rule for f in scan_fields({"body": "zq123456"}, policy)] == ["network-pattern-2"]


@pytest.mark.parametrize(
    "text",
    [
        "[]", "secret_scan: 7", "secret_scan: {enabled: maybe}", "secret_scan: {extra_patterns: x}",
        "secret_scan: {max_body_bytes: -1}", "secret_scan: {max_body_bytes: 1e9}", "forbid: [\"\\e[31mred\", swearing]",
        "secret_scan: {max_body_bytes: 99999999}",
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_plain_characters_and_the_scan_stays_on(text: str) -> None:
    policy = scan_policy(load(text))
    assert policy.notices
    assert all(notice.isprintable() for notice in policy.notices)
    assert policy.enabled
    assert policy.max_body_bytes == BODY_BYTES


def test_a_name_that_is_no_name_is_not_shown() -> None:
    policy = scan_policy({"secret_scan": {"extra_patterns": [{"name": "\x1b[31m", "pattern": "zq1"}]}})
    assert [one.name for one in policy.patterns] == ["network-pattern-1"]


def test_only_so_many_patterns_are_taken() -> None:
    policy = scan_policy({"secret_scan": {"extra_patterns": [{"pattern": f"zq{n}x"} for n in range(1_000)]}})
    assert len(policy.patterns) == 50
    assert len(policy.notices) == 1
