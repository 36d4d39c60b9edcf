"""The parser of `kxm peer`."""

from typing import Any

import pytest

from peerline.cli.hot_args import Call, parse, require
from peerline.cli.hot_output import Failure
from peerline.cli.hot_table import FIELDS, FLAG, INTEGER, OBJECT, VERBS, WORDS, options

CONTEXT = '{"runId":"run_1","stageId":"review","requirementKey":"r","attempt":1}'


def parsed(*words: str) -> Call:
    call = Call()
    parse(list(words), call)
    require(call)
    return call


def refused(*words: str) -> Failure:
    with pytest.raises(Failure) as caught:
        parsed(*words)
    assert caught.value.exit_code == 2
    return caught.value


@pytest.mark.requirement("MSG-CMD-FANOUT")
def test_targets_take_words_up_to_the_next_option() -> None:
    call = parsed("fanout", "--targets", "planner", "reviewer", "--content", "plan it", "--timeout-ms", "600000")
    assert call.fields == {"targets": ["planner", "reviewer"], "content": "plan it", "timeoutMs": 600_000}


def test_targets_given_twice_add_up() -> None:
    assert parsed("fanout", "--targets", "a", "--targets=b", "--content", "c").fields["targets"] == ["a", "b"]


def test_positionals_fill_what_no_option_has_filled() -> None:
    assert parsed("send", "--target", "reviewer", "look").fields == {"target": "reviewer", "content": "look"}
    assert parsed("send", "reviewer", "--content", "look").fields == {"target": "reviewer", "content": "look"}


def test_everything_after_two_dashes_is_a_positional() -> None:
    assert parsed("reply", "msg_1", "--", "--done--").fields["content"] == "--done--"


def test_a_value_may_start_with_a_dash_unless_it_is_an_option() -> None:
    assert parsed("send", "a", "--content", "- a list").fields["content"] == "- a list"
    assert refused("send", "a", "--content", "--json").detail == "--content needs a value"
    assert parsed("send", "a", "--content=--json").fields["content"] == "--json"


def test_explicit_options_win_over_the_payload() -> None:
    call = parsed("send", "--payload", '{"target":"a","content":"b","ttlMs":5000}', "--ttl-ms", "6000")
    assert call.fields == {"target": "a", "content": "b", "ttlMs": 6000}


def test_null_in_a_payload_is_as_if_it_were_not_there() -> None:
    assert parsed("send", "a", "b", "--payload", '{"ttlMs":null}').fields == {"target": "a", "content": "b"}


@pytest.mark.parametrize("payload", ["", "{", "[]", "1", '{"target":1}', '{"allowOffline":"yes"}', '{"ttlMs":true}'])
def test_a_malformed_payload_is_refused_under_its_own_name(payload: str) -> None:
    assert refused("send", "a", "b", "--payload", payload).error == "invalid_payload"


def test_a_payload_field_that_does_not_exist_is_refused_and_corrected() -> None:
    failure = refused("send", "a", "b", "--payload", '{"idempotencykey":"k"}')
    assert failure.error == "invalid_payload"
    assert failure.detail == "unknown field: idempotencykey; did you mean idempotencyKey?"


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (("snd",), "unknown command: snd; did you mean send?"),
        (("send", "a", "b", "--ttl", "5"), "unknown option: --ttl; did you mean --ttl-ms?"),
        (("list", "--jsn"), "unknown option: --jsn; did you mean --json?"),
        ((), "a command is missing: " + ", ".join(VERBS)),
        (("send", "a"), "content is required"),
        (("send", "a", ""), "content cannot be empty"),
        (("get",), "messageId is required"),
        (("fanout", "--content", "c"), "targets is required"),
        (("fanout", "--targets", "--content", "c"), "--targets needs at least one value"),
        (("get", "a", "b"), "too many arguments: get takes 1; quote a text with spaces"),
        (("list", "--json=yes"), "--json takes no value"),
        (("send", "a", "b", "--file", "f", "--content", "c"), "--content and --file exclude each other"),
        (("send", "a", "b", "--ttl-ms", "1e4"), "ttlMs must be an integer between 1000 and 604800000"),
        (("send", "a", "b", "--ttl-ms", "٥٠٠٠"), "ttlMs must be an integer between 1000 and 604800000"),
        (("send", "a", "b", "--workflow-context", '{"runId":"r"}'), "workflowContext.stageId is required"),
        (
            ("send", "a", "b", "--workflow-context", CONTEXT.replace(":1}", ":21}")),
            "workflowContext.attempt must be an integer between 1 and 20",
        ),
    ],
)
def test_what_is_not_understood_is_said_in_one_sentence(words: tuple[str, ...], detail: str) -> None:
    assert refused(*words).detail == detail


@pytest.mark.parametrize(
    "words",
    [
        ("send", "--token=s3cret-value", "a", "b"),
        ("send", "a", "b", "s3cret-value"),
        ("--s3cret-value", "list"),
        ("s3cret-value",),
        ("send", "a", "b", "--payload", '{"s3cret-value":1}'),
        ("send", "a", "b", "--payload", "s3cret-value"),
        ("send", "a", "b", "--ttl-ms", "s3cret-value"),
        ("send", "a", "b", "--workflow-context", "s3cret-value"),
    ],
)
def test_a_value_in_the_wrong_place_is_not_repeated(words: tuple[str, ...]) -> None:
    assert "s3cret" not in refused(*words).detail


SAMPLES: dict[str, tuple[list[str], Any]] = {
    FLAG: ([], True),
    INTEGER: (["5000"], 5000),
    WORDS: (["a", "b"], ["a", "b"]),
    OBJECT: ([CONTEXT], {"runId": "run_1", "stageId": "review", "requirementKey": "r", "attempt": 1}),
    "text": (["some text"], "some text"),
}


@pytest.mark.parametrize(("verb", "option"), [(verb, option) for verb in VERBS for option in options(verb)])
def test_every_option_of_every_verb_fills_its_field(verb: str, option: str) -> None:
    field = options(verb)[option]
    words, value = SAMPLES[FIELDS[field][0]]
    call = Call()
    parse([verb, option, *words], call)
    assert call.fields == {field: value}
