"""What an agent says of itself to the others (spec/network.md 3.10): single lines, and never a path of its machine."""

import re
from dataclasses import dataclass
from typing import Final
from unicodedata import category

from peerline.core.errors import Invalid
from peerline.core.ids import Millis

ROLE: Final = 120
SENTENCE: Final = 500
ITEMS: Final = 20
ITEM: Final = 240

_UNSAFE: Final = re.compile(r"[\\`;$@:]|^[~/]|^[A-Za-z]:|//")


class InvalidProfile(Invalid):
    code = "INVALID_PROFILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    client: str
    platform: str = "unknown"
    architecture: str = "unknown"
    workspace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Blanks are collapsed on the way in.

    Raises:
        InvalidProfile
    """

    id: str
    updated_at: Millis
    role: str
    mission: str
    current_focus: str
    environment: Environment
    capabilities: tuple[str, ...] = ()
    responsibilities: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    can_help_with: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, at_most in (("role", ROLE), ("mission", SENTENCE), ("current_focus", SENTENCE)):
            object.__setattr__(self, name, _line(name, getattr(self, name), at_most))
        for name in ("capabilities", "responsibilities", "constraints", "can_help_with"):
            items: tuple[str, ...] = getattr(self, name)
            if len(items) > ITEMS:
                raise InvalidProfile(f"agent profile '{name}' holds at most {ITEMS} items, there are {len(items)}")
            object.__setattr__(self, name, tuple(_line(name, item, ITEM) for item in items))
        for name in ("client", "platform", "architecture"):
            _line(f"environment.{name}", getattr(self.environment, name), ROLE)
        if self.environment.workspace is not None:
            _workspace(self.environment.workspace)


def _line(name: str, text: str, at_most: int) -> str:
    line = " ".join(text.split())
    if not line or len(line) > at_most or any(category(c) in ("Cc", "Cs") for c in line):
        raise InvalidProfile(
            f"agent profile '{name}' is one line of 1 to {at_most} characters without control characters"
        )
    return line


def _workspace(text: str) -> None:
    parts = text.split("/")
    if _line("environment.workspace", text, ROLE) != text or _UNSAFE.search(text) or {".", "..", ""} & {*parts}:
        raise InvalidProfile(
            "agent profile 'environment.workspace' must be a safe label or canonical repository id, not a local path"
        )
