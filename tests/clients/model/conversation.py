"""What a client asks its model, in one form for all wire formats; and what the scripted model answers."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of a conversation. `results` are texts of tool results, `calls` names of the tools called."""

    role: str
    text: str = ""
    results: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """A request to the model; `tools` are the names that it may call."""

    system: str
    model: str
    tools: tuple[str, ...]
    turns: tuple[Turn, ...]

    @property
    def exchange(self) -> tuple[Turn, ...]:
        """What follows the last answer that called no tool: the turn that is going on."""
        ends = [at for at, turn in enumerate(self.turns) if turn.role == "assistant" and not turn.calls]
        return self.turns[ends[-1] + 1 :] if ends else self.turns

    @property
    def asked(self) -> str:
        """Everything that was said to the model in this exchange, tool results aside."""
        return "\n".join(turn.text for turn in self.exchange if turn.role != "assistant" and turn.text)

    @property
    def answered(self) -> int:
        """How often the model has spoken in this exchange."""
        return sum(1 for turn in self.exchange if turn.role == "assistant")

    @property
    def result(self) -> str:
        """The newest tool result of this exchange."""
        results = [result for turn in self.exchange for result in turn.results]
        return results[-1] if results else ""

    @property
    def everything(self) -> str:
        return "\n".join([self.system, *(text for turn in self.turns for text in (turn.text, *turn.results))])

    def tool(self, name: str) -> str:
        """The offered tool that a client calls `name` behind a prefix of its own.

        Raises:
            LookupError: none was offered.
        """
        for offered in self.tools:
            if offered == name or offered.endswith(("_" + name, ":" + name)):
                return offered
        raise LookupError(f"no tool {name} among {', '.join(self.tools) or 'none'}")


@dataclass(frozen=True, slots=True)
class Call:
    """`name` is ours, without the client's prefix."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """`refused` makes it the provider's error of that text, and no answer."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Now:
    """What a step of a rule may use: where its pattern was found, and the conversation."""

    found: re.Match[str]
    conversation: Conversation

    @property
    def result(self) -> str:
        return self.conversation.result


Step = Callable[[Now], Answer]
Script = Callable[[Conversation], Answer]


def say(text: str) -> Step:
    return lambda now: Answer(text)


def call(name: str, **arguments: Any) -> Step:
    """Call a tool; an argument may be a function of `Now`."""

    def step(now: Now) -> Answer:
        filled = {key: value(now) if callable(value) else value for key, value in arguments.items()}
        return Answer(calls=(Call(name, filled),))

    return step


@dataclass(frozen=True, slots=True)
class Rule:
    """When `pattern` stands in what was said in an exchange, the steps are the answers, one after another."""

    pattern: str
    steps: tuple[Step, ...]


class Rules:
    """A script that is a list: the first rule that fits decides; after its steps, and without one, it says OK."""

    def __init__(self, *rules: Rule) -> None:
        self._rules = rules

    def __call__(self, conversation: Conversation) -> Answer:
        for rule in self._rules:
            found = re.search(rule.pattern, conversation.asked, re.DOTALL)
            if found and conversation.answered < len(rule.steps):
                return rule.steps[conversation.answered](Now(found, conversation))
            if found:
                break
        return Answer("OK")
