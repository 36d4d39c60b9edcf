"""`peerline continue`: let two agents go on that only talked to each other, with what was held between them."""

from typing import Any

import click

from peerline.cli.hot_output import Failure
from peerline.cli.hot_session import Session
from peerline.cli.person_self import Person
from peerline.core.fence import visible


@click.command("continue")
@click.argument("one")
@click.argument("other")
@click.pass_obj
def continue_(person: Person, one: str, other: str) -> int:
    """Let the agents ONE and OTHER go on: what the hub held between them goes out, in order, and counts anew.

    The hub holds what two agents send each other when it is too much without a person's turn. `peerline why` shows it.
    """
    with person.session() as session:
        done = _let_go(session, one, other)
    names = [visible(str(end.get("name", "?")), 64) for end in done.get("agents", []) if isinstance(end, dict)]
    between, released = " and ".join(names), done.get("released", 0)
    if not released:
        text = f"Nothing was held between {between}; from now on they count anew."
    elif released == 1:
        text = f"The request that was held between {between} goes out now. `peerline why` shows who waits for whom."
    else:
        text = f"{released} requests that were held between {between} go out now, in order."
    return person.voice.done([text], released=released, agents=done.get("agents"))


def _let_go(session: Session, one: str, other: str) -> dict[str, Any]:
    try:
        return session.call("POST", "/v1/pairs/continue", {"agents": [one, other]})
    except Failure as failure:
        if failure.more.get("code") == "person_only":
            failure.detail = (
                f"{visible(session.caller.name)} is registered as an agent, and only a person lets agents go on;"
                " say who you are with --as NAME (and without KXM_AGENT_PURPOSE)"
            )
        elif failure.more.get("code") == "target_not_found":
            failure.detail = (
                f"{failure.detail} (project {visible(session.caller.project)}); `peerline why` shows who is held"
            )
        raise
