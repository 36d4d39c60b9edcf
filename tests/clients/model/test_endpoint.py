"""The scripted model by itself: what a client would read from it."""

import http.client
import json
from typing import Any

import pytest

from tests.clients.model import chat, gemini, responses
from tests.clients.model.conversation import Answer, Call, Conversation, Now, Rule, Rules, call, say
from tests.clients.model.endpoint import HOOKS, Endpoint

TOOLS = [{"name": "mcp__plugin_kxm_kxm__kxm_reply", "input_schema": {}}, {"name": "Bash", "input_schema": {}}]


def ask(model: Endpoint, path: str, body: dict[str, Any]) -> tuple[int, str]:
    connection = http.client.HTTPConnection(model.url.removeprefix("http://"), timeout=20)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


def asked(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "system": [{"type": "text", "text": "rules"}],
        "messages": list(messages),
        "tools": TOOLS,
    } | more


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def used(name: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": name, "input": {}}]}


def result(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": content}]}


def repeat(now: Now) -> Answer:
    return Answer(now.result)


SCRIPT = Rules(Rule("please answer (\\w+)", (call("kxm_reply", messageId=lambda now: now.found[1]), repeat)))


def test_a_rule_calls_the_tool_under_the_clients_name_for_it_and_then_speaks() -> None:
    with Endpoint(SCRIPT) as model:
        begun = asked(user("please answer msg_1"), stream=True)
        _, text = ask(model, "/v1/messages?beta=true", begun)
        (block,) = [one["content_block"] for one in events(text) if one["type"] == "content_block_start"]
        (delta,) = [one["delta"] for one in events(text) if one["type"] == "content_block_delta"]
        assert block["name"] == "mcp__plugin_kxm_kxm__kxm_reply"
        assert json.loads(delta["partial_json"]) == {"messageId": "msg_1"}
        goes_on = asked(*begun["messages"], used(block["name"]), result("sent"))
        _, text = ask(model, "/v1/messages", goes_on)
        assert json.loads(text)["content"] == [{"type": "text", "text": "sent"}]
        assert json.loads(text)["stop_reason"] == "end_turn"


def test_an_exchange_begins_behind_the_last_answer_that_ended_a_turn() -> None:
    with Endpoint() as model:
        ask(
            model, "/v1/messages", asked(user("old"), {"role": "assistant", "content": "OK"}, user("new"), used("Bash"))
        )
        (one,) = model.requests
        assert (one.conversation.asked, one.conversation.answered) == ("new", 1)
        assert one.conversation.system == "rules"


def test_a_script_that_calls_what_was_not_offered_fails_the_test_that_waits() -> None:
    with Endpoint(lambda conversation: Answer(calls=(Call("nothing"),))) as model:
        status, _ = ask(model, "/v1/messages", asked(user("hello")))
        assert status == 400
        with pytest.raises(AssertionError, match="no tool nothing among"):
            model.asked(lambda conversation: True)


def test_what_did_not_come_is_told_with_what_came() -> None:
    with Endpoint() as model:
        ask(model, "/v1/messages", asked(user("hello")))
        with pytest.raises(AssertionError, match="hello"):
            model.asked(lambda conversation: "other" in conversation.asked, patience_s=0.01)


def test_calls_without_tools_are_for_titles_and_no_script_sees_them() -> None:
    def script(conversation: Conversation) -> Answer:
        raise AssertionError("not asked for")

    with Endpoint(script) as model:
        assert ask(model, "/v1/messages", asked(user("title?"), tools=[]))[0] == 200
        assert model.requests == []


def test_a_hooks_report_is_kept_in_order_with_what_was_asked() -> None:
    with Endpoint(Rules(Rule("x", (say("y"),)))) as model:
        ask(model, "/v1/messages", asked(user("x")))
        mark = model.mark
        assert ask(model, HOOKS, {"hook_event_name": "Stop"}) == (200, "{}")
        assert model.hooked("Stop", after=mark).input == {"hook_event_name": "Stop"}


def test_chat_completions_is_the_same_model_in_another_form() -> None:
    tools = [{"type": "function", "function": {"name": "mcp__kxm__kxm_reply", "parameters": {}}}]
    rules, request = {"role": "system", "content": "rules"}, {"role": "user", "content": "please answer msg_1"}
    with Endpoint(SCRIPT) as model:
        _, text = ask(model, chat.PATH, {"messages": [rules, request], "tools": tools, "stream": True})
        assert text.endswith("data: [DONE]\n\n")
        first = json.loads(text.split("\n")[0].removeprefix("data: "))
        (made,) = first["choices"][0]["delta"]["tool_calls"]
        assert (made["function"]["name"], json.loads(made["function"]["arguments"])) == (
            "mcp__kxm__kxm_reply",
            {"messageId": "msg_1"},
        )
        called = {"role": "assistant", "tool_calls": [made]}
        heard = {"role": "tool", "tool_call_id": made["id"], "content": "sent"}
        _, text = ask(model, chat.PATH, {"messages": [rules, request, called, heard], "tools": tools})
        assert json.loads(text)["choices"][0]["message"]["content"] == "sent"


def test_responses_is_the_same_model_with_grouped_tools() -> None:
    tools = [{"type": "namespace", "name": "mcp__kxm", "tools": [{"name": "kxm_reply"}]}, {"name": "shell"}]
    request = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "please answer msg_1"}]}
    with Endpoint(SCRIPT) as model:
        asked_for = {"instructions": "rules", "input": [request], "tools": tools, "stream": True}
        _, text = ask(model, responses.PATH, asked_for)
        done = events(text)[-1]
        (made,) = done["response"]["output"]
        assert (made["namespace"], made["name"]) == ("mcp__kxm", "kxm_reply")
        heard = {"type": "function_call_output", "call_id": made["call_id"], "output": "sent"}
        _, text = ask(model, responses.PATH, asked_for | {"input": [request, made, heard], "stream": False})
        assert json.loads(text)["output"][0]["content"][0]["text"] == "sent"


def test_gemini_is_the_same_model_with_its_name_in_the_path() -> None:
    tools = [{"functionDeclarations": [{"name": "mcp_kxm_kxm_reply"}, {"name": "glob"}]}]
    rules = {"parts": [{"text": "rules"}]}
    request = {"role": "user", "parts": [{"text": "please answer msg_1"}]}
    path = f"{gemini.PATH}m:streamGenerateContent?alt=sse"
    with Endpoint(SCRIPT) as model:
        _, text = ask(model, path, {"contents": [request], "tools": tools, "systemInstruction": rules})
        (done,) = events(text)
        said = done["candidates"][0]["content"]
        assert said["parts"] == [{"functionCall": {"name": "mcp_kxm_kxm_reply", "args": {"messageId": "msg_1"}}}]
        answer = {"functionResponse": {"name": "mcp_kxm_kxm_reply", "response": {"output": "sent"}}}
        heard = {"role": "user", "parts": [answer]}
        _, text = ask(model, f"{gemini.PATH}m:generateContent", {"contents": [request, said, heard], "tools": tools})
        assert json.loads(text)["candidates"][0]["content"]["parts"] == [{"text": "sent"}]
        assert model.requests[0].conversation.system == "rules"
