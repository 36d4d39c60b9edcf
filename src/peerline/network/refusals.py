"""What the network's engine refuses, with what to do next."""

from peerline.core.errors import Conflict, Forbidden, NotFound


class NotSubscribed(Forbidden):
    """The room isn't followed: an empty answer about it would look like silence."""

    code = "NOT_SUBSCRIBED"


class UnknownRoom(NotFound):
    code = "UNKNOWN_ROOM"


class UnknownPost(NotFound):
    code = "UNKNOWN_MESSAGE"


class ReplyBudgetExceeded(Conflict):
    """So many agents' posts in a row stand in the thread that a person must speak first."""

    code = "REPLY_BUDGET_EXCEEDED"


class RoomExists(Conflict):
    code = "ROOM_EXISTS"
