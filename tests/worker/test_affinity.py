"""Which session a request belongs to."""

from peerline.worker.affinity import scope
from tests.worker.records import asked

RUN = "run_" + "a1" * 16


def test_a_request_of_a_run_belongs_to_the_runs_session() -> None:
    assert scope(asked(1, workflowRunId=RUN)) == RUN
    assert scope(asked(1, workflowContext={"runId": RUN, "stageId": "review"})) == RUN
    assert scope(asked(1, correlationId=RUN, **{"from": f"workflow:{RUN}"})) == RUN


def test_a_correlation_id_alone_opens_no_session() -> None:
    assert scope(asked(1, correlationId=RUN)) == "default"
    assert scope(asked(1, correlationId=RUN, **{"from": f"workflow:{RUN[:-1]}0"})) == "default"


def test_what_is_no_runs_id_cannot_name_a_folder() -> None:
    for bad in ("../../etc", "run_", RUN + "/..", RUN.upper(), ""):
        assert scope(asked(1, workflowRunId=bad)) == "default"
        assert scope(asked(1, workflowContext={"runId": bad})) == "default"
