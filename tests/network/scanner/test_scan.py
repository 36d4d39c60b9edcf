"""The scanner's rules, places and silence about values."""

import random
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from peerline.network.scanner.contexts import ASSIGNMENTS, CONTEXTS
from peerline.network.scanner.finding import Finding
from peerline.network.scanner.scan import FINDINGS_AT_MOST, scan
from peerline.network.scanner.shapes import SHAPES, WITHIN
from peerline.network.scanner.structures import STRUCTURES
from tests.house.tracked import ROOT
from tests.network.scanner.secrets_corpus import PREFIXED, filled

CHANCE = random.Random(7)

# The names and the shapes that the public implementation reports as well (spec/network.md 10).
RULES = {
    "private-key-block": "-----BEGIN EC PRIVATE KEY-----",
    "aws-access-key-id": "AKIA{Upper:16}",
    "github-token": "ghr_{alnum:36}",
    "github-fine-grained-token": "github_pat_{alnum:40}",
    "gitlab-token": "glpat-{url:20}",
    "slack-token": "xoxs-{digit:12}",
    "google-api-key": "AIza{url:35}",
    "anthropic-api-key": "sk-ant-{url:24}",
    "openai-api-key": "sk-{alnum:48}",
    "stripe-key": "rk_test_{alnum:24}",
    "npm-token": "npm_{alnum:36}",
    "jwt": "eyJ{url:20}.eyJ{url:20}.{url:20}",
}


@pytest.mark.parametrize(("rule", "pattern"), RULES.items())
def test_a_rule_is_reported_by_its_name_and_its_place(rule: str, pattern: str) -> None:
    secret = filled(pattern, CHANCE)
    assert scan(f"first\nthe key {secret} here") == [Finding(line=2, column=9, rule=rule)]


def test_a_password_in_an_address_is_reported_where_it_stands() -> None:
    address = "postgres://app:" + filled("{alnum:16}", CHANCE) + "@db.test/app"
    assert scan(address) == [Finding(line=1, column=16, rule="connection-string-password")]


@pytest.mark.parametrize(
    "name",
    [
        "passwd", "password", "DB_PASSWORD", "secret", "token", "api_key", "apiKey", "access_key", "access-key",
        "private-key", "clientSecret", "client_secret", "auth_token", "SECRET_KEY_BASE", "ENCRYPTION_KEY",
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["{}={}", "{}: {}", '{} = "{}"', '"{}": "{}"', "'{}' => '{}',", "{} := `{}`"])
def test_a_value_beside_a_telling_name_is_a_secret(name: str, form: str) -> None:
    value = "q7" + filled("{alnum:20}", CHANCE)
    text = form.format(name, value)
    assert scan(text) == [Finding(line=1, column=text.index(value) + 1, rule="credential-assignment")]


@pytest.mark.parametrize(
    "value",
    [
        "aaaaaaaaaaaa", "xxxxxxxxxx", "..........", "----------", "<your-token>", "{token}", "{{ token }}", "${TOKEN}",
        "$TOKEN_OF_CI", "%TOKEN_OF_CI%", "your-api-key-here", "my_secret_token", "the-password", "example-password",
        "changeme123", "test-token-1", "placeholder", "[redacted]", "************", "not-a-real-token",
    ],
)  # fmt: skip
def test_a_placeholder_is_no_secret(value: str) -> None:
    assert scan(f"token={value}\npassword: {value}") == []


@pytest.mark.parametrize("start", ["my", "test", "the", "foo", "your", "example-"])
def test_a_secret_that_begins_like_a_placeholder_is_one_all_the_same(start: str) -> None:
    assert scan(f"password={start}{filled('7{alnum:14}9', CHANCE)}")


@pytest.mark.parametrize(
    "line",
    [
        "token = request.headers.get('X-Token')", "password: str | None = None", "secret=os.environ['SECRET_KEY']",
        "api_key=settings.api_key)", "token=get_token(request, scope)", "passwordFile: /run/secrets/db_password_1",
        "secretName: my-app-tls-secret-2", "token_id=tok_4f2a9c81b7d3", "tokenUrl: https://auth.acme.test/oauth2/token",
        "max_tokens=100000000", "fencingToken=1).status", "secret: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "password must be at least 12 characters", "if (token === undefined) return", "credentials: `KXM_AUTH_TOKEN`",
    ],
)  # fmt: skip
def test_what_only_leads_to_a_secret_is_none(line: str) -> None:
    assert scan(line) == []


def test_a_secret_that_looks_like_a_path_or_a_call_is_one() -> None:
    for value in ("/kD7Wf4rQncA9R8WKAbB/Hu5Si8S6k2x", "yY7!QO4Ds5qgcC"):
        assert scan(f"DB_PASSWORD={value}")
        assert scan(f"password: '{value}'")
    assert scan("password: 'kQ(7x)L2vm[9]Zr'")  # in quotes; bare it could be an expression


def test_a_value_that_is_not_random_enough_is_none() -> None:
    assert scan("password=aabbaabbaabb") == []
    assert scan("password=kV9$aabbcd") != []


def test_a_disguised_secret_is_placed_where_its_disguise_begins() -> None:
    token = filled("AKIA{Upper:16}", CHANCE)
    wide = "".join(chr(ord(c) + 0xFEE0) for c in token)
    assert scan(f"a\nb {wide} c") == [Finding(line=2, column=3, rule="aws-access-key-id")]
    assert scan(f"a\nsee {token[:9]}\n  {token[9:]} c") == [Finding(line=2, column=5, rule="aws-access-key-id")]
    assert scan(f"a\nb %{ord('A'):02x}{token[1:]}") == [Finding(line=2, column=3, rule="aws-access-key-id")]


def test_places_count_characters_not_bytes() -> None:
    token = filled("ghp_{alnum:36}", CHANCE)
    assert scan(f"ключ 🔑 {token}") == [Finding(line=1, column=8, rule="github-token")]


@pytest.mark.requirement("RELAY-SCANNER-REFUSES")
def test_no_finding_holds_the_value() -> None:
    for pattern in PREFIXED.values():
        secret = filled(pattern, CHANCE)
        for finding in scan(f"password={secret} and {secret}"):
            shown = f"{finding!r} {finding} {vars(type(finding)).keys()}"
            assert secret[-12:] not in shown
            assert isinstance(finding.line, int)
            assert isinstance(finding.column, int)
            assert not any(secret[-12:] in str(getattr(finding, name)) for name in finding.__slots__)


def test_the_narrower_rule_names_the_secret_of_a_line() -> None:
    assert [f.rule for f in scan("token=" + filled("ghp_{alnum:36}", CHANCE))] == ["github-token"]


def test_findings_are_in_order_and_bounded() -> None:
    text = "\n".join(filled("ghp_{alnum:36}", CHANCE) for _ in range(200))
    found = scan(text)
    assert len(found) == FINDINGS_AT_MOST
    assert found == sorted(found)


def test_the_reference_page_names_every_rule_once() -> None:
    page = (ROOT / "docs" / "reference" / "secret-scanner.md").read_text()
    listed = re.findall(r"`([a-z0-9-]+)`", page.split("## Rules")[1])
    rules = {shape.name for shape in SHAPES} | {rule.name for _, rule in WITHIN}
    rules |= {rule.name for rule in (*CONTEXTS, *ASSIGNMENTS)} | set(STRUCTURES)
    assert sorted(listed) == sorted(rules)


SIZE = 262_144
HOSTILE = [
    "sk-", "a", " ", "\n", "-", "eyJ", "eyJ-ghp_" + "x" * 36 + "-", "password=", "password=xxxxxxxx ", "%41", "QUJD",
    "6162", "a://b:", "a://b:cc", "curl -u a:xxx ", "login a ", "Q~1", '"        ', "中文", "привет ", "a\u200b", "\0",
    "-----BEGIN ", '"auth":"', "kind: Secret\ndata:\n a: xxx\n", "data:\n", "a b ", "a\n", "\\n", "&amp;", "%25",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=\n", "\\\n", "> \n", '" + "', "token: " + "a" * 300 + "\n", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE, ids=lambda unit: ascii(unit[:12]))
def test_a_hostile_body_of_256_kib_ends(unit: str) -> None:
    """Under Python's own engine some of these take hours; the suite's time-out is the bound here."""
    token = filled("AKIA{Upper:16}", CHANCE)
    assert scan((unit * (SIZE // len(unit)))[: SIZE - 40] + "\n" + token + "\n")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_scanned_and_places_stand_in_it(text: str) -> None:
    lines = text.split("\n")
    for finding in scan(text):
        assert 1 <= finding.line <= len(lines)
        assert 1 <= finding.column <= len(lines[finding.line - 1]) + 1


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.sampled_from(string.printable + "абв\u200b中"), max_size=80), st.integers(0, 79))
def test_a_token_is_found_wherever_it_stands_between_words(around: str, at: int) -> None:
    token = filled("AKIA{Upper:16}", CHANCE)
    assert scan(f"{around[:at]} {token} {around[at:]}")
