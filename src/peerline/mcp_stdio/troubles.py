"""What an agent is told when the hub cannot be used: what is the matter, and the next step for its user."""

import errno

from peerline.client.refusals import Unreachable
from peerline.core.errors import PeerlineError, Unproven
from peerline.core.fence import visible
from peerline.mcp_stdio.place import NoToken, Place
from peerline.tools import troubles

CONFIGURE = "/plugin configure kxm@kxm"


def told(error: PeerlineError, place: Place) -> str:
    """The text of a failed call; never a token, and nothing foreign that hides."""
    project = visible(place.project, 128)
    if isinstance(error, NoToken):
        return (
            f"no token for project {project}: start a hub on this machine with `kxm hub start`, or give the token of "
            f"a hub elsewhere with {CONFIGURE}, or add the project to KXM_PROJECT_TOKENS where the hub runs. The hub "
            "was not contacted. Go on without KXM and tell your user."
        )
    if isinstance(error, Unreachable):
        return (
            f"hub not reachable at {place.url} ({cause(error)}): start it with `kxm hub start`, or if it runs "
            f"elsewhere name it with {CONFIGURE}. Go on without KXM and tell your user; this session connects by "
            "itself when the hub is there."
        )
    if isinstance(error, Unproven):
        return (
            f"the hub at {place.url} rejected the project token of {project}: set the right one with {CONFIGURE} or "
            "KXM_AUTH_TOKEN. Go on without KXM and tell your user."
        )
    return troubles.told(error, place.project)


def cause(error: BaseException) -> str:
    """ECONNREFUSED and the like, as an operator looks it up; else what the client says."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, OSError) and inner.errno is not None and inner.errno in errno.errorcode:
            return errno.errorcode[inner.errno]
        inner = inner.__context__
    return visible(str(error), 200)
