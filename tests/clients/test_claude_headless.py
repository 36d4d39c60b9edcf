"""Claude Code without a terminal: nothing can be pushed, so hooks name what waits and keep it from being forgotten."""

import json

import pytest

from peerline.core.fence import INTRODUCTION, unrender
from tests.clients.claude import Claude
from tests.clients.model.conversation import Answer, Call, Rule, Rules, Step, call, say
from tests.clients.model.endpoint import Endpoint
from tests.core.fence_breakers import BREAKERS
from tests.hub_process import Project

BODY = "Is 7 prime? The body of a request, for its recipient alone."
REMINDER = r"KXM: 1 request you were told of has no answer yet.*(msg_[0-9a-f]{32})"


def test_a_session_without_mail_is_not_told_anything(claude: Claude, model: Endpoint) -> None:
    printed = claude.headless("hello")
    assert printed.servers == {"plugin:kxm:kxm": "connected"}
    assert printed.hook_outputs("SessionStart") == printed.hook_outputs("Stop") == []
    (asked,) = model.requests
    assert "hook additional context" not in asked.conversation.asked


def test_the_model_is_offered_the_tools_at_once(claude: Claude, model: Endpoint) -> None:
    claude.headless("hello")
    offered = {tool for tool in model.requests[0].conversation.tools if "kxm" in tool}
    names = ("list", "send", "get", "fanout", "await", "cancel", "inbox", "reply", "claim", "release")
    assert offered == {f"mcp__plugin_kxm_kxm__kxm_{name}" for name in names}


@pytest.mark.requirement(
    "MSG-SETUP-CLAUDE-PLUGIN", "MSG-CLAUDE-PULL", "MSG-STATE-DELIVERED-CLAUDE", "MSG-TROUBLE-CLAUDE-SILENT"
)
def test_a_waiting_request_is_named_and_the_turn_goes_on_until_it_is_answered(
    claude: Claude, shop: Project, model: Endpoint
) -> None:
    claude.headless("a first session, so that the name is known and can be written to")
    lead = shop.register("lead")
    sent = lead.send("builder", BODY, allowOffline=True)["id"]
    before = len(model.requests)
    model.script = Rules(
        Rule(
            REMINDER,
            (
                call("kxm_inbox"),
                call("kxm_reply", messageId=lambda now: now.found[1], content="Yes, 7 is prime."),
                say("I have answered."),
            ),
        )
    )
    printed = claude.headless("work on something else")

    (brief,) = printed.hook_outputs("SessionStart")
    assert sent in brief
    assert "from lead" in brief
    assert BODY not in brief
    first, reminded, read, done = [one.conversation for one in model.requests[before:]]
    assert sent in first.asked
    assert sent in reminded.asked
    assert BODY not in reminded.everything
    assert BODY in read.result
    assert "│ " + BODY in read.result, "inside the frame"
    assert "replied" in done.result
    assert len(printed.hook_outputs("Stop")) == 1
    record = lead.get(sent)
    assert (record["status"], record["reply"]["content"]) == ("replied", "Yes, 7 is prime.")


def test_a_model_that_does_not_answer_is_reminded_once_and_can_end(
    claude: Claude, shop: Project, model: Endpoint
) -> None:
    claude.headless("first")
    lead = shop.register("lead")
    sent = lead.send("builder", BODY, allowOffline=True)["id"]
    before = len(model.requests)
    printed = claude.headless("second")
    assert [sent in one.conversation.asked for one in model.requests[before:]] == [True, True]
    assert len(printed.hook_outputs("Stop")) == 1
    assert lead.get(sent)["status"] == "delivered"


def test_texts_that_want_to_break_out_reach_the_model_whole_and_inside_their_frames(
    claude: Claude, shop: Project, model: Endpoint
) -> None:
    claude.headless("first")
    sent: dict[str, str] = {}
    for few in _batches(list(BREAKERS.values()), 8):  # of more at once from one peer the rest would be held
        lead = shop.register(f"lead{len(sent)}")
        for body in few:
            answer = lead.try_send("builder", body, allowOffline=True)
            if answer.status == 202:  # the hub takes no empty text and no half of a character
                sent[answer.json["message"]["id"]] = body
    assert len(sent) > 50
    model.script = Rules(Rule("read them all", (_read(list(sent)), say("read"))))
    claude.headless("read them all")
    read = next(one.conversation for one in model.requests if one.conversation.result)
    results = [result for turn in read.exchange for result in turn.results]
    shown = [result.partition(INTRODUCTION) for result in results]
    assert {json.loads(record)["id"]: unrender(INTRODUCTION + body) for record, _, body in shown} == sent


def _batches(texts: list[str], size: int) -> list[list[str]]:
    return [texts[at : at + size] for at in range(0, len(texts), size)]


def _read(ids: list[str]) -> Step:
    return lambda now: Answer(calls=tuple(Call("kxm_get", {"messageId": one}) for one in ids))


@pytest.mark.requirement("MSG-STATE-DELIVERED-CLAUDE-RESTART")
def test_a_request_that_an_earlier_session_took_is_read_back_by_the_next_one(
    claude: Claude, shop: Project, model: Endpoint
) -> None:
    claude.headless("first")
    lead = shop.register("lead")
    sent = lead.send("builder", BODY, allowOffline=True)["id"]
    claude.headless("second, which takes it and does not answer")
    assert lead.get(sent)["status"] == "delivered"
    model.script = Rules(
        Rule("read your inbox", (call("kxm_inbox"), call("kxm_reply", messageId=sent, content="late"), say("done")))
    )
    printed = claude.headless("read your inbox")
    assert sent in printed.hook_outputs("SessionStart")[0]
    assert lead.get(sent)["reply"]["content"] == "late"


def test_a_reply_that_nobody_was_there_to_read_is_named_until_it_is_read(
    claude: Claude, shop: Project, model: Endpoint
) -> None:
    lead = shop.register("lead")
    model.script = Rules(Rule("ask lead", (call("kxm_send", target="lead", content="Which colour?"), say("asked"))))
    claude.headless("ask lead")
    (asked,) = lead.inbox()
    lead.reply(asked["id"], "Blue, the text of the reply.")
    model.script = Rules(
        Rule("read what came", (call("kxm_get", messageId=asked["id"]), say("read"))),
    )
    first = claude.headless("something else")
    again = claude.headless("read what came")
    after = claude.headless("something else")
    assert asked["id"] in first.hook_outputs("SessionStart")[0]
    assert asked["id"] in again.hook_outputs("SessionStart")[0]
    assert "│ Blue, the text of the reply." in model.requests[-2].conversation.everything
    assert after.hook_outputs("SessionStart") == []


@pytest.mark.requirement("MSG-NAME-CLAUDE-PID")
def test_a_session_whose_name_is_online_elsewhere_is_told_what_it_is_called(
    claude: Claude, shop: Project, model: Endpoint
) -> None:
    shop.register("builder")
    claude.headless("hello")
    listed = shop.register("lead").call("GET", "/v1/agents?includeOffline=true").json["agents"]
    (name,) = [agent["name"] for agent in listed if agent["name"].startswith("builder-")]
    assert f"peers reach this one as {name}." in model.requests[0].conversation.asked
