import pytest

from peerline.cli.hot_output import Failure
from peerline.cli.person_voice import Voice, age, clock, columns, left, moment, span, summary


def a_voice(**env: str) -> Voice:
    return Voice(env, as_json=False, command="list")


def test_a_table_leaves_out_columns_that_are_empty_everywhere() -> None:
    lines = a_voice().table(("NAME", "HOST", "FOR"), [("ada", "", "asks"), ("grace", "", "answers")])
    assert lines == ["NAME   FOR", "ada    asks", "grace  answers"]


def test_wide_and_combining_characters_count_what_they_take() -> None:
    assert [columns(text) for text in ("ada", "你好", "e\u0301", "❤\ufe0f")] == [3, 4, 1, 1]
    lines = a_voice().table(("NAME", "FOR"), [("你好", "x"), ("ada", "y")])
    assert lines[1:] == ["你好  x", "ada   y"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (0.4, "0 s"), (59, "59 s"), (60, "1 min"), (7_200, "2 h"), (86_400 * 3, "3 d")],
)
def test_a_span_is_told_in_its_largest_unit(seconds: float, text: str) -> None:
    assert span(seconds) == text


@pytest.mark.parametrize("nonsense", [None, "", "yesterday", 7, "\x1b[2J"])
def test_a_time_that_is_none_is_a_question_mark(nonsense: object) -> None:
    assert moment(nonsense) is None
    assert (age(nonsense), left(nonsense), clock(nonsense)) == ("?", "?", "?")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one line", "«one line»"),
        ("\n\n first\nsecond", "«first …»"),
        ("", "«»"),
        ("\x1b[2J\u202ex", "«⟨U+001B⟩[2J⟨U+202E⟩x»"),
    ],
)
def test_a_summary_is_the_first_line_without_tricks(text: str, shown: str) -> None:
    assert summary(text) == shown


def test_a_failure_is_one_line_whatever_its_text_holds(capfd: pytest.CaptureFixture[str]) -> None:
    assert a_voice().failure(Failure("a\nb\x1b[31m")) == 1
    assert capfd.readouterr().err == "peerline list: a⟨U+000A⟩b⟨U+001B⟩[31m\n"


def test_secrets_of_the_environment_are_never_printed(capfd: pytest.CaptureFixture[str]) -> None:
    voice = a_voice(KXM_AUTH_TOKEN="secret-of-a-test")
    voice.done(["it is secret-of-a-test"])
    voice.aside("it is secret-of-a-test")
    voice.failure(Failure("it is secret-of-a-test"))
    out, err = capfd.readouterr()
    assert "secret-of-a-test" not in out + err
    assert out == "it is [redacted]\n"


def test_there_is_no_colour_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    assert a_voice().styled("x", "red") == "x"
