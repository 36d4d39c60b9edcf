"""How many cases were told rightly, in one line at the end of a run."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

PROPERTY: Final = "truth"
SENTENCES: Final = {
    "stopped": "non-deliveries told with their cause and next step, none as delivered",
    "arrived": "deliveries told as that, none called stuck",
}


def lines(stats: Mapping[str, Sequence[Any]]) -> list[str]:
    """From the terminal's reports: those of our cases carry which kind they are."""
    found: dict[str, list[bool]] = {}
    for outcome in ("passed", "failed"):
        for report in stats.get(outcome, ()):
            for name, kind in getattr(report, "user_properties", ()):
                if name == PROPERTY and report.when == "call":
                    found.setdefault(kind, []).append(outcome == "passed")
    return [
        f"truth: {sum(told)} of {len(told)} {SENTENCES[kind]}" for kind, told in sorted(found.items(), reverse=True)
    ]
