"""How the network's records are shown to a model: JSON without foreign texts, and each text behind it in its fence."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from peerline.core.fence import NONCE_BYTES, render, visible

Entropy = Callable[[int], bytes]
BODY: Final = "body"


def texts(value: Any, own: str, entropy: Entropy) -> list[str]:
    """The result's texts; the first is the JSON. `own` is this agent, whose words need no fence."""
    bodies: list[str] = []
    shown = _shown(value, own, bodies, entropy)
    return [json.dumps(shown, indent=1, ensure_ascii=False), *bodies]


def _shown(value: Any, own: str, bodies: list[str], entropy: Entropy) -> Any:
    if isinstance(value, str):
        return visible(value, 2_000)
    if isinstance(value, list):
        return [_shown(one, own, bodies, entropy) for one in value]
    if not isinstance(value, dict):
        return value
    shown = {visible(name, 80): _shown(one, own, bodies, entropy) for name, one in value.items() if name != BODY}
    body = value.get(BODY)
    if isinstance(body, str):
        shown[BODY] = body if value.get("from") == own else _fenced(value, body, bodies, entropy)
    return shown


def _fenced(message: Mapping[str, Any], body: str, bodies: list[str], entropy: Entropy) -> str:
    """Put the text behind the record; what stands in its place says where it is."""
    nonce = entropy(NONCE_BYTES)
    origin = {
        "from": str(message.get("from") or "unknown"),
        "room": str(message.get("room") or "unknown"),
        "message": str(message.get("id") or "unknown"),
        "sender verified": "yes" if message.get("verified", True) else f"no ({message.get('reason')})",
    }
    bodies.append(render(body.rstrip("\n"), origin, nonce))
    return f"see below, mark {nonce.hex()}"
