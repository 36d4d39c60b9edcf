"""Why one life of a harness ended."""

from dataclasses import dataclass
from enum import StrEnum


class End(StrEnum):
    EXITED = "exited"  # by itself, or killed
    STOPPED = "stopped"  # we were asked to
    PROVIDER = "provider_failure"
    TOOL = "tool_timeout"
    SILENT = "activation_timeout"
    ROUTED = "routed"  # the next request belongs to another session
    UNRESUMABLE = "unresumable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """`detail` names the tool, the failure's class or the next session, as `end` has it; `ready`: it took turns."""

    end: End
    detail: str = ""
    ready: bool = False

    @property
    def lost(self) -> bool:
        """Whether the harness went in the middle of what it did."""
        return self.end in (End.EXITED, End.TOOL, End.SILENT)

    @property
    def told(self) -> str | None:
        """What those who wait for an answer should know."""
        match self.end:
            case End.EXITED | End.SILENT:
                return "The session that worked on this ended; the turn is run again."
            case End.TOOL:
                return "A tool did not come back; the turn is run again."
            case End.PROVIDER:
                return f"The model failed ({self.detail}); the turn is run again."
        return None
