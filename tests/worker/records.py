"""Requests as the hub would tell them."""

from typing import Any

from peerline.client.records import Message
from tests.client.records import a_message


def asked(number: int, **members: Any) -> Message:
    return a_message(**{"id": f"msg_{number}", "seq": number, "content": f"body {number}", **members})
