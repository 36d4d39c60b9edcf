"""Sessions of one project that wait for their answers, by whatever path they came to its folder."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from peerline.core.fence import unrender
from peerline.gateway.reply_key import reply_key
from tests.cli.komnet.conftest import Machine
from tests.cli.komnet.test_gateway_session import fields, running

Set = Callable[[str], Machine]


def asked(alice: Machine, text: str, session: str, *words: str) -> str:
    typed = alice.komnet("gateway", "ask", "build", text, "--session", session, *words, "--json")
    return str(typed.json["file"])


def answer_all(bob: Machine, count: int) -> None:
    """In the reverse order of the questions."""
    items = next(items for _ in range(200) if len(items := bob.komnet("inbox", "--json").json["items"]) == count)
    for item in sorted(items, key=lambda one: str(one["id"]), reverse=True):
        bob.komnet("answer", item["id"], f"the answer to {item['body'].split()[1]}")


def test_of_two_sessions_in_one_project_each_waits_for_its_own_answer(machine: Set) -> None:
    alice, bob = machine("alice"), machine("bob")
    alice.komnet("gateway", "prepare")
    with running(alice, "gateway", "run") as gateway:
        gateway.until("relay-armed")
        words = ("--wait", "100", "--json", "--key", "42")
        with (
            running(alice, "gateway", "ask", "build", "question one", "--session", "one", *words) as one,
            running(alice, "gateway", "ask", "build", "question two", "--session", "two", *words) as two,
        ):
            for _ in range(2):
                gateway.until("relay-request")
            answer_all(bob, 2)
            found = {name: json.loads(waiting.rest()) for name, waiting in (("one", one), ("two", two))}
    assert {name: unrender(value["reply"]["text"]) for name, value in found.items()} == {
        "one": "the answer to one",
        "two": "the answer to two",
    }


@pytest.mark.requirement("RELAY-REPLY-KEY")
def test_a_project_that_a_link_leads_to_has_its_answers_by_both_paths(machine: Set, tmp_path: Path) -> None:
    """Asked in the real folder; read by a session that came there by the link."""
    alice, bob = machine("alice"), machine("bob")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    alice.komnet("gateway", "prepare")
    with running(alice, "gateway", "run") as gateway:
        gateway.until("relay-armed")
        asked(alice, "question one", "one", "--project-dir", str(tmp_path / "real"))
        gateway.until("relay-request")
        answer_all(bob, 1)
        by_link = ("--project-dir", str(tmp_path / "link"))
        told = fields(alice.komnet("gateway", "await-reply", *by_link, "--timeout", "60").out.strip())
    (file,) = alice.komnet("gateway", "replies", *by_link, "--json").json
    assert file["id"] == told["id"]
    assert unrender(alice.komnet("gateway", "replies", *by_link, "--read", file["file"]).out) == "the answer to one"
    alice.komnet("gateway", "replies", *by_link, "--mark-delivered", file["file"])
    assert alice.komnet("gateway", "replies", "--project-dir", str(tmp_path / "real")).out.startswith("no answers")
    assert (alice.home / "gateway" / "replies" / reply_key(str(tmp_path / "real")) / "delivered").is_dir()


@pytest.mark.requirement("RELAY-SCANNER-REPORTED")
@pytest.mark.parametrize("form", ["ask --wait", "send"])
def test_a_secret_is_refused_at_the_command_with_rule_and_place_and_without_its_value(machine: Set, form: str) -> None:
    alice, secret = machine("alice"), "AKIAABCDEFGHIJKLMNOP"
    alice.komnet("gateway", "prepare")
    if form == "send":
        typed = alice.komnet("gateway", "send", asked(alice, f"is {secret} in use?", "one"), code=1)
    else:
        with running(alice, "gateway", "run") as gateway:
            gateway.until("relay-armed")
            typed = alice.komnet("gateway", "ask", "build", f"is {secret} in use?", "--wait", "60", code=1)
    assert "SECRET_DETECTED" in typed.out
    assert "aws" in typed.out
    assert "line 1, column 4" in typed.out
    assert secret not in typed.out + typed.err
