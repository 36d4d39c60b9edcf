"""From a local session into a room: claimed, sent once, its result told (design/gateway.md)."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from peerline.core.errors import Busy, NotFound, PeerlineError, Unavailable
from peerline.core.fence import visible
from peerline.core.identifiers import EVERYONE
from peerline.core.ids import Millis
from peerline.core.post_draft import PostDraft, draft
from peerline.gateway.attribution import RELAY_TAG, RefusedBefore, attributed, digest_of
from peerline.gateway.claims import claim, request_files
from peerline.gateway.hub_requests import HubRequests
from peerline.gateway.journal import Journal, JournalTx, RequestRow
from peerline.gateway.place import GatewayPlace, write_whole
from peerline.gateway.request_file import WISH, Request, UnreadableRequest, is_json, read_request, request_bytes
from peerline.gateway.sessions import Sessions
from peerline.network.engine import Engine

SUMMARY: Final = 120
NAME_SHOWN: Final = 255
SETTLED_MS: Final = 60_000  # a file that is no JSON for so long will not become one


class NotFollowed(NotFound):
    """The gateway joins no room for a request."""

    code = "NOT_SUBSCRIBED"


class UnknownRequest(NotFound):
    code = "UNKNOWN_REQUEST"


class NotWhole(Unavailable):
    """A session may be in the middle of writing the file."""

    code = "NOT_WHOLE_YET"


def post_of(request: Request) -> PostDraft:
    """Raises: InvalidPost."""
    return draft(
        room=request.room,
        body=attributed(request.body, request.session),
        kind="question",
        needs=request.needs,
        mentions=(request.to or EVERYONE,),
        tags=(RELAY_TAG, *((f"{WISH}{request.wish}",) if request.wish else ())),
    )


class Outbound:
    """`engine` opens the network that a request names, None: the default one."""

    def __init__(
        self,
        place: GatewayPlace,
        journal: Journal,
        engine: Callable[[str | None], Engine],
        sessions: Sessions,
        *,
        now: Callable[[], Millis],
        say: Callable[[str], None],
    ) -> None:
        self._place, self._journal, self._engine, self._now, self._say = place, journal, engine, now, say
        self._hub = HubRequests(journal, sessions, now=now, say=say)

    def step(self) -> None:
        """Take every waiting request as far as it goes now."""
        self._claim()
        self._hub.claim()
        for row in self._journal.read(lambda tx: tx.requests("claimed", "sending")):
            self._send(row)
        self.tell_results()

    def send_one(self, stem: str) -> RequestRow:
        """Send one claimed request, once: what was sent or refused before stays as it is.

        Raises:
            UnknownRequest
        """
        file = f"{stem}.json"
        if (self._place.requests / file).exists():
            (file,) = claim(self._place, self._journal, [file]) or [file]
            stem = file.removesuffix(".json")
        row = self._journal.read(lambda tx: tx.request(stem))
        if row is None:
            if not (self._place.claimed / file).is_file():
                raise UnknownRequest(f"there is no request {file[:120]!a} here: komnet gateway status")
            self._journal.write(lambda tx: tx.add_request(stem, self._now()), "claimed")
            row = self._row(stem)
        if row.state in ("claimed", "sending"):
            self._send(row)
        self.tell_results()
        return self._row(stem)

    def tell_results(self) -> None:
        for row in self._journal.read(lambda tx: tx.untold()):
            self._tell(row)

    def _row(self, stem: str) -> RequestRow:
        row = self._journal.read(lambda tx: tx.request(stem))
        assert row is not None
        return row

    def _claim(self) -> None:
        """Atomic renames; what a gateway before us claimed and did not note is taken up too."""
        claim(self._place, self._journal, request_files(self._place.requests))
        for name in request_files(self._place.claimed):
            stem = name.removesuffix(".json")
            row = self._journal.read(lambda tx, stem=stem: tx.request(stem))  # type: ignore[misc]
            if row is not None and row.told:
                self._unclaim(stem)  # a gateway ended just before it did
            if row is not None:
                continue
            if self._journal.write(lambda tx, stem=stem: tx.add_request(stem, self._now()), "claimed"):  # type: ignore[misc]
                self._say(f"relay-request file={visible(name, NAME_SHOWN)}")

    def _send(self, row: RequestRow) -> None:
        try:
            if self._known(row):
                return
            request = self._hub.read(row) if row.hub_message else self._read(row)
            self._require_followed(request)
            self._require_own_words(request)
            made = post_of(request)
            engine = self._engine(request.network)
            post_id = row.post or engine.new_id()
            if row.post is None:
                facts = {"network": request.network, **_facts(request)}
                post_id = self._journal.write(lambda tx: tx.start_sending(row.stem, post_id, **facts), "sending")
            sent = engine.send(made, id=post_id)
        except NotWhole:
            return
        except (Busy, Unavailable) as error:
            self._say(f"relay-degraded request={row.stem} reason={error.code}")
            return  # tried again with the next pass
        except PeerlineError as error:
            # Its first line may be what was refused for: it is kept nowhere.
            self._note(row, "refused", code=error.code, detail=error.text, post=None, summary=None, told=0)
            return
        self._note(row, "sent", thread=sent.post.thread, detail=sent.delivery, told=0)

    def _read(self, row: RequestRow) -> Request:
        """Raises: UnreadableRequest; NotWhole: later."""
        try:
            found = request_bytes(self._place.claimed / f"{row.stem}.json")
        except OSError as error:
            raise UnreadableRequest(f"the file can't be read: {error.strerror}") from None
        try:
            return read_request(found.data)
        except UnreadableRequest:
            if self._now() - found.changed_at < SETTLED_MS and not is_json(found.data):
                raise NotWhole("it may still be written") from None
            raise

    def _known(self, row: RequestRow) -> bool:
        """Whether a gateway that ended had written the post already; of a message on the hub no more is needed."""
        if row.hub_message is None or row.post is None:
            return False
        stored = self._engine(row.network).find(row.post)
        if stored is None:
            return False
        self._note(row, "sent", thread=stored.post.thread, told=0)
        return True

    def _require_followed(self, request: Request) -> None:
        engine = self._engine(request.network)
        if request.room not in engine.followed():
            raise NotFollowed(
                f"this machine's gateway does not follow #{request.room}, and joins no room for a request; "
                f"its person can: komnet room join {request.room}"
            )

    def _require_own_words(self, request: Request) -> None:
        digest = digest_of(request.body)
        if self._journal.read(lambda tx: tx.refused_before(digest, request.session)):
            raise RefusedBefore

    def _arrived(self, row: RequestRow) -> bool:
        """Whether the remote has the post."""
        try:
            return row.post is not None and self._engine(row.network).waits(row.post) is None
        except PeerlineError as error:  # the network was left, or its file can't be read now
            self._say(f"relay-degraded request={row.stem} reason={error.code}")
            return False

    def _note(self, row: RequestRow, state: str, **values: Any) -> None:
        self._journal.write(lambda tx: _set(tx, row, state, values), state)

    def _tell(self, row: RequestRow) -> None:
        """The result, for the session that asked; refusals included."""
        if row.hub_message is not None:
            if self._hub.tell(row, arrived=lambda: self._arrived(row)):
                self._journal.write(lambda tx: tx.set_request(row.stem, told=1), "told")
            return
        value: Mapping[str, Any] = {
            "state": row.state,
            "messageId": row.post,
            "thread": row.thread,
            "code": row.code,
            "detail": row.detail,
        }
        try:
            write_whole(self._place.results / f"{row.stem}.json", json.dumps(value, indent=2) + "\n")
        except OSError as error:
            self._say(f"relay-degraded result={row.stem} reason={error.strerror}")
            return
        self._journal.write(lambda tx: tx.set_request(row.stem, told=1), "told")
        self._unclaim(row.stem)

    def _unclaim(self, stem: str) -> None:
        """The journal has all of the request; a folder in a file's place can't be removed and stays for its owner."""
        with suppress(OSError):
            (self._place.claimed / f"{stem}.json").unlink(missing_ok=True)


def _set(tx: JournalTx, row: RequestRow, state: str, values: Mapping[str, Any]) -> None:
    tx.set_request(row.stem, state=state, **values)


def _facts(request: Request) -> dict[str, Any]:
    first = next((line for line in request.body.split("\n") if line.strip()), "").strip()
    return {
        "room": request.room,
        "session": request.session,
        "reply_key": request.reply_key or None,
        "asked_agent": request.to,
        "needs": request.needs,
        "summary": first[:SUMMARY],
        "digest": digest_of(request.body),
    }
