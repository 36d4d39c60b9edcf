"""A real terminal emulator prints what the fence shows: nothing but text may happen to it."""

import pyte
import pytest

from peerline.core.fence import render
from tests.core.fence_breakers import BREAKERS, NONCE

COLUMNS, LINES = 200, 60
SHORT = [name for name, body in BREAKERS.items() if len(body) < 500]


@pytest.mark.parametrize("name", SHORT)
def test_a_body_moves_no_cursor_and_leaves_title_colours_and_earlier_lines_alone(name: str) -> None:
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.Stream(screen)
    before = ["$ peerline inbox", "an earlier line"]
    rendered = render(BREAKERS[name], {"from": BREAKERS[name]}, NONCE)
    shown = "".join(line + "\r\n" for line in [*before, *rendered.split("\n")])
    rows = sum(1 for _ in shown.split("\r\n")) - 1
    stream.feed(shown)
    assert [line.rstrip() for line in screen.display[:2]] == before
    assert (screen.title, screen.icon_name) == ("", "")
    assert screen.cursor.attrs == screen.default_char
    assert {cell.fg for row in screen.buffer.values() for cell in row.values()} <= {"default"}
    assert screen.cursor.x == 0
    assert screen.cursor.y >= rows
    assert screen.mode == pyte.Screen(COLUMNS, LINES).mode
    assert any(row.rstrip() == f"╰─ {NONCE.hex()}" for row in screen.display)
