"""What a worker has to know after `kill -9`: which session goes with which scope, and answers that are not yet sent.

An answer is written down before it is sent: a worker that dies in between sends it at its next start, and the turn is
not run again.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from peerline.core.ids import Millis
from peerline.worker.files import Files
from peerline.worker.plan import DEFAULT_SCOPE

SCHEMA: Final = "kxm.worker-session-binding.v1"
ANSWERS: Final = 64


class Binding:
    """Read once, written with each change; one that cannot be read is set aside and begun anew (`set_aside`)."""

    def __init__(self, files: Files, harness: str, *, max_runs: int, now: Callable[[], Millis]) -> None:
        self._files, self._harness, self._max_runs, self._now = files, harness, max_runs, now
        self.set_aside: Path | None = None
        self._sessions: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, str] = {}
        self._load()

    def session(self, scope: str) -> str | None:
        """What the scope's session can be resumed by."""
        found = self._sessions.get(scope)
        return None if found is None else found["id"]

    def bind(self, scope: str, session: str) -> list[str]:
        """Remember the scope's session; the scopes that had to go for it, the longest unused first."""
        self._sessions[scope] = {"id": session, "usedAt": self._now()}
        runs = sorted((s for s in self._sessions if s != DEFAULT_SCOPE), key=lambda s: self._sessions[s]["usedAt"])
        gone = [one for one in runs[: max(0, len(runs) - self._max_runs)] if one != scope]
        for one in gone:
            del self._sessions[one]
        self._save()
        return gone

    def forget(self, scope: str) -> None:
        if self._sessions.pop(scope, None) is not None:
            self._save()

    def keep_answer(self, message_ids: Iterable[str], text: str) -> None:
        self._answers |= dict.fromkeys(message_ids, text)
        while len(self._answers) > ANSWERS:
            del self._answers[next(iter(self._answers))]
        self._save()

    def answer(self, message_id: str) -> str | None:
        """The answer of an earlier turn that has not been sent."""
        return self._answers.get(message_id)

    def sent(self, message_id: str) -> None:
        if self._answers.pop(message_id, None) is not None:
            self._save()

    def _save(self) -> None:
        value = {
            "schema": SCHEMA,
            "harness": self._harness,
            "sessions": self._sessions,
            "answers": self._answers,
        }
        self._files.write_object(self._files.binding, value)

    def _load(self) -> None:
        path = self._files.binding
        if not path.exists():
            return
        value = self._files.read(str(path))
        sessions, answers = value.get("sessions"), value.get("answers")
        if value.get("schema") != SCHEMA or not isinstance(sessions, dict) or not isinstance(answers, dict):
            self.set_aside = path.with_name(f"{path.name}.corrupt-{self._now()}")
            path.replace(self.set_aside)
            return
        self._answers = {one: text for one, text in answers.items() if isinstance(text, str)}
        if value.get("harness") == self._harness:
            self._sessions = {scope: entry for scope, entry in sessions.items() if _entry(entry)}


def _entry(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str) and isinstance(value.get("usedAt"), int)
