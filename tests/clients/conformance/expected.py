"""What the conformance suite finds wanting, and why it is meant: a scenario that is not listed here has to pass.

An entry that passes all the same fails the test too, so nothing stays listed out of habit. `scenario:check` excuses
that one check.
"""

from collections.abc import Mapping
from typing import Final

FIXED_NAME: Final = "calls a tool by a fixed name, which ours do not have; tried with the suite's tools"
NO_PROMPTS: Final = "we offer no prompts; tried with the suite's tools"
NO_RESOURCES: Final = "we offer no resources; tried with the suite's tools"
NO_COMPLETION: Final = "we offer nothing to complete; tried with the suite's tools"
NO_LOGGING: Final = "logging is deprecated since 2026-07-28, and the SDK's server leaves it out by default"
NO_SUBSCRIPTIONS: Final = "no resource of ours, nor of the suite's tools, can be subscribed to"
NO_ELICITATION: Final = "no tool asks its client for input, so none answers `input_required`"
NO_SAMPLING: Final = "wants a tool that needs its client's model; none does"

_PROMPTS: Final = (
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
)
_RESOURCES: Final = ("resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read")
_BY_NAME: Final = (
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-with-progress",
)
_SERVER_ASKS: Final = (
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
)
_INPUT_REQUIRED: Final = tuple(
    f"input-required-result-{name}"
    for name in (
        "basic-elicitation",
        "basic-sampling",
        "basic-list-roots",
        "request-state",
        "multiple-input-requests",
        "multi-round",
        "missing-input-response",
        "non-tool-request",
        "result-type",
        "tampered-state",
        "capability-check",
        "validate-input",
    )
)
_STATELESS: Final = (
    "server-stateless:sep-2575-server-rejects-undeclared-capability",
    "server-stateless:sep-2575-missing-capability-http-400",
)
_CHANGES: Final = tuple(
    f"server-stateless:sep-2575-server-sends-{kind}-list-changed-on-subscription" for kind in ("prompts", "tools")
)
_LISTS: Final = ("prompts-list", "resources-list", "resources-templates-list")


def _all(names: tuple[str, ...], reason: str) -> dict[str, str]:
    return dict.fromkeys(names, reason)


SUITE_TOOLS: Final[Mapping[str, str]] = {
    **_all(("logging-set-level", "tools-call-with-logging"), NO_LOGGING),
    **_all(("resources-subscribe", "resources-unsubscribe"), NO_SUBSCRIPTIONS),
}
_NEXT: Final[Mapping[str, str]] = {
    **_all(_INPUT_REQUIRED, NO_ELICITATION),
    **_all(_STATELESS, NO_SAMPLING),
}
SUITE_TOOLS_NEXT: Final[Mapping[str, str]] = {
    **_NEXT,
    **_all(_CHANGES, "the SDK's own server says that its lists may change, and the suite's tools never do"),
}
OUR_TOOLS: Final[Mapping[str, str]] = {
    **SUITE_TOOLS,
    **_all((*_BY_NAME, *_SERVER_ASKS), FIXED_NAME),
    **_all(_PROMPTS, NO_PROMPTS),
    **_all(_RESOURCES, NO_RESOURCES),
    "completion-complete": NO_COMPLETION,
}
OUR_TOOLS_NEXT: Final[Mapping[str, str]] = {
    **_NEXT,
    **_all(_BY_NAME, FIXED_NAME),
    **_all(_PROMPTS, NO_PROMPTS),
    **_all((*_RESOURCES, "sep-2164-resource-not-found"), NO_RESOURCES),
    **_all(tuple(f"caching:sep-2549-{name}-caching-hints" for name in _LISTS), "we offer no prompts and no resources"),
    "completion-complete": NO_COMPLETION,
}
