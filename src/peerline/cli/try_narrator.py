"""The demo's voice: one line for each thing that happens, narrow enough for any terminal, coloured only on one."""

import os
import re
import textwrap
import threading
import time
from typing import Final, TextIO

WIDTH: Final = 79
# Ids begin with their time, so those of one demo differ at the end.
ID: Final = re.compile(r"\bmsg_[0-9a-f]{26}([0-9a-f]{6})\b")


class Narrator:
    """Writes one line for each thing that happens: seconds since the start, who, what."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._began = time.monotonic()
        self._colour = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._lock = threading.Lock()

    def seconds(self) -> float:
        return time.monotonic() - self._began

    def chapter(self, title: str) -> None:
        self._write(f"\n{self._styled('1', title)}\n")

    def line(self, who: str, what: str, *, style: str = "") -> None:
        at = f"{self.seconds():5.2f} s"
        first, *rest = textwrap.wrap(ID.sub(r"msg_…\1", what), WIDTH - 20, break_on_hyphens=False) or [""]
        lines = [f"{self._styled('2', at)}  {self._styled('1;36', f'{who:<9}')}  {self._styled(style, first)}"]
        lines += [" " * 20 + self._styled(style, more) for more in rest]
        self._write("\n".join(lines) + "\n")

    def result(self, what: str) -> None:
        self.line("", f"-> {what}", style="32")

    def failure(self, what: str) -> None:
        self.line("", f"!! {what}", style="1;31")

    def _styled(self, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._colour and style and text.strip() else text

    def _write(self, text: str) -> None:
        with self._lock:
            self._out.write(text)
            self._out.flush()
