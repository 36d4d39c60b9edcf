"""What an agent is told when the hub refuses what it asked: the contract's text, and the next step if there is one."""

from peerline.client.refusals import OutcomeUnknown
from peerline.core.errors import PeerlineError, TargetNotFound
from peerline.core.fence import visible
from peerline.core.next_step import NO_GATEWAY


def told(error: PeerlineError, project: str) -> str:
    """The text of a failed call; nothing foreign in it hides."""
    text = visible(error.text, 1_000)
    if isinstance(error, TargetNotFound):
        project = visible(project, 128)
        if "@" in text:  # an address in a room, which only the gateway knows the way to
            return f"{text} (no gateway of project {project} is at work; a person can {NO_GATEWAY})"
        return f"{text} (searched in project {project}; see kxm_list, or use allowOffline for a known agent)"
    if isinstance(error, OutcomeUnknown) and error.idempotency_key:
        return f'{text}. Repeat the exact call with "idempotencyKey": "{error.idempotency_key}": it cannot send twice.'
    return text
