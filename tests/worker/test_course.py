"""What follows the end of one life."""

from pathlib import Path
from typing import Any

import pytest

from peerline.worker.course import TOOL_AFTER, Course
from peerline.worker.ending import End, Ending
from peerline.worker.plan import Plan

RUN = "run_" + "a1" * 16


def a_course(**given: Any) -> tuple[Course, list[str]]:
    events: list[str] = []
    plan = Plan(harness="pi", name="b", project="p", folder=Path(), command=("x",), kxm=("kxm",), **given)
    return Course(plan, lambda event, **members: events.append(event)), events


def test_a_route_leads_to_the_other_session_at_once() -> None:
    course, events = a_course()
    assert course.next.scope == "default"
    assert course.after(Ending(end=End.ROUTED, detail=RUN, ready=True), 10, resumed=True) == 0
    assert (course.next.scope, course.next.resumes, events) == (RUN, True, ["worker_session_routed"])


def test_a_provider_failure_leads_to_the_next_model_and_a_tool_to_the_same() -> None:
    course, _ = a_course(models=("one", "two"))
    assert course.after(Ending(end=End.TOOL, detail="bash", ready=True), 10, resumed=False) == TOOL_AFTER
    assert course.next.model == "one"
    assert course.after(Ending(end=End.PROVIDER, detail="quota", ready=True), 10, resumed=False) == 1_000
    assert course.next.model == "two"
    assert course.after(Ending(end=End.PROVIDER, detail="quota", ready=True), 10, resumed=False) == 60_000


@pytest.mark.parametrize("end", [End.EXITED, End.UNRESUMABLE])
def test_a_session_that_could_not_be_gone_on_with_is_tried_fresh_once_and_not_forgotten(end: End) -> None:
    course, events = a_course()
    assert course.after(Ending(end=end), 10, resumed=True) == 1_000
    assert not course.next.resumes
    assert "worker_continue_fallback" in events
    assert course.after(Ending(end=End.EXITED), 10, resumed=False) == 2_000
    assert course.next.resumes, "the fault was another: the old session may still be there"


def test_what_ended_after_it_had_taken_turns_is_gone_on_with() -> None:
    course, events = a_course()
    course.after(Ending(end=End.EXITED, ready=True), 10, resumed=True)
    assert course.next.resumes
    assert "worker_continue_fallback" not in events


def test_without_continuing_only_the_first_start_may_be_another() -> None:
    never, _ = a_course(resume=False, resume_first=False)
    assert not never.next.resumes
    fresh, _ = a_course(resume_first=False)
    assert not fresh.next.resumes
    fresh.after(Ending(end=End.EXITED, ready=True), 10, resumed=False)
    assert fresh.next.resumes


def test_after_the_last_restart_that_is_allowed_it_is_given_up() -> None:
    course, events = a_course(max_restarts=1)
    ended = Ending(end=End.EXITED, ready=True)
    assert [course.after(ended, 10, resumed=False) for _ in range(2)] == [1_000, None]
    assert events[-1] == "worker_restart_limit_reached"
