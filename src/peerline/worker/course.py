"""What follows the end of one life of a harness: when the next one starts, in which session, with which model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from peerline.core.ids import Millis
from peerline.worker.ending import End, Ending
from peerline.worker.models import Models
from peerline.worker.plan import DEFAULT_SCOPE, Plan
from peerline.worker.restarts import Restarts

TOOL_AFTER: Final[Millis] = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """`resumes`: go on with the scope's session, if there is one."""

    scope: str
    model: str | None
    resumes: bool


class Course:
    """`log` is told of each turn that it takes."""

    def __init__(self, plan: Plan, log: Callable[..., None]) -> None:
        self._plan, self._log = plan, log
        self._models = Models(plan.models, plan.provider_retry)
        self._restarts = Restarts(plan.max_restarts)
        self._scope = DEFAULT_SCOPE
        self._resumes = plan.resume_first

    @property
    def next(self) -> Next:
        return Next(scope=self._scope, model=self._models.current, resumes=self._resumes)

    def after(self, ending: Ending, uptime: Millis, *, resumed: bool) -> Millis | None:
        """The pause before the next start, or None: it has been started often enough.

        A start that resumed and never took a turn is followed by a fresh one; the old session is forgotten only when
        that one is ready, for the fault may be another.
        """
        failed_to_resume = resumed and not ending.ready and ending.end in (End.EXITED, End.UNRESUMABLE)
        self._resumes = self._plan.resume and not failed_to_resume
        match ending.end:
            case End.ROUTED:
                self._scope = ending.detail
                self._log("worker_session_routed", scope=ending.detail)
                return 0
            case End.PROVIDER:
                pause = self._models.failed()
                self._log("worker_provider_restart_scheduled", pauseMs=pause, model=self._models.current)
                return pause
            case End.TOOL:
                self._log("worker_tool_timeout", level="warn", tool=ending.detail)
                self._log("worker_tool_restart_scheduled", pauseMs=TOOL_AFTER)
                return TOOL_AFTER
        if failed_to_resume:
            self._log("worker_continue_fallback", level="warn", scope=self._scope)
        again = self._restarts.ended(uptime)
        if again is None:
            self._log("worker_restart_limit_reached", level="error", restarts=self._restarts.count)
        else:
            self._log("worker_restart_scheduled", pauseMs=again, restarts=self._restarts.count)
        return again
