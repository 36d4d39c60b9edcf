"""The extension shows a body exactly as the one renderer does."""

import json
import random
import subprocess

from peerline.core.fence import render, visible
from tests.clients.install import NODE
from tests.clients.pi import EXTENSION
from tests.core.fence_breakers import BREAKERS, NONCE
from tests.hub_process import PATIENCE_S

PROGRAM = """
import { readFileSync } from "node:fs";
import { render, visible } from "%s";
const { bodies, nonce } = JSON.parse(readFileSync(0, "utf8"));
const mark = Buffer.from(nonce, "hex");
const shown = bodies.map((body) => [render(body, { from: body.slice(0, 40) }, mark), visible(body, 80)]);
process.stdout.write(JSON.stringify(shown));
"""
ALPHABET = 'ab \n\t\r│╭╰⟨U+200B⟩"\u0301\u200b\u200d\u202e\u2028\ufe0f\u20e3☃❤\U0001f600\U000e0041\u3164\ufffe\u115f'


def test_bodies_are_rendered_character_for_character_as_by_the_python_renderer() -> None:
    chance = random.Random(7)
    made = ["".join(chance.choices(ALPHABET, k=chance.randrange(1, 60))) for _ in range(2_000)]
    # At the cut, a character of two units; half a character is not sent by any hub.
    long = ["x" * 31_999 + "\U0001f600", "x" * 32_000, "é" * 33_000]
    whole = [body for body in BREAKERS.values() if not any("\ud800" <= c <= "\udfff" for c in body)]
    # JavaScript's slice counts units: the attribution is of plain characters only there.
    bodies = [body for body in [*whole, *made, *long] if all(c < "\U00010000" for c in body[:40])]
    assert len(bodies) > 500
    ran = subprocess.run(
        [str(NODE.path), "--input-type=module", "-e", PROGRAM % (EXTENSION / "fence.ts")],
        input=json.dumps({"bodies": bodies, "nonce": NONCE.hex()}).encode(),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    expected = [[render(body, {"from": body[:40]}, NONCE), visible(body, 80)] for body in bodies]
    for shown, wanted in zip(json.loads(ran.stdout), expected, strict=True):
        assert shown == wanted
