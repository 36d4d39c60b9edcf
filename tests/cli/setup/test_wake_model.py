"""The stand-in for the model, by what a client reads from it."""

import json
import threading
import urllib.request

import pytest

from peerline.cli.setup.wake_model import WORD, StandIn

PATHS = ("/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/any:generateContent")
STREAMED = "/v1beta/models/any:streamGenerateContent"


def post(url: str, body: object) -> tuple[str, str]:
    data = json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {"content-type": "application/json"}, method="POST")
    with urllib.request.urlopen(asked, timeout=20) as answer:
        return answer.headers["content-type"], answer.read().decode()


@pytest.mark.parametrize("path", PATHS)
def test_each_format_is_answered_whole_and_in_pieces(path: str) -> None:
    with StandIn() as model:
        kind, whole = post(model.url + path, {"model": "any"})
        assert (kind, WORD in json.dumps(json.loads(whole))) == ("application/json", True)
        streamed = STREAMED if ":generate" in path else path
        kind, pieces = post(model.url + streamed, {"model": "any", "stream": True})
    assert kind == "text/event-stream"
    data = [line.removeprefix("data: ") for line in pieces.splitlines() if line.startswith("data: ")]
    assert f'"{WORD}"' in "".join(data)
    assert all(json.loads(one) for one in data if one != "[DONE]")


def test_a_text_is_heard_when_it_comes_and_only_then() -> None:
    with StandIn() as model:
        assert model.heard("msg_1", 0) is None
        asking = threading.Thread(target=post, args=(model.url + PATHS[0], {"messages": "read msg_1"}))
        asking.start()
        assert model.heard("msg_1", 20) is not None
        asking.join()
        assert model.heard("msg_2", 0) is None
