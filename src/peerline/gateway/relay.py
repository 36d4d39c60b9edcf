"""The relay: a process that a person starts, which moves requests out and posts in, and decides nothing."""

from collections.abc import Callable, Mapping
from functools import partial

from peerline.core.errors import PeerlineError
from peerline.core.ids import Entropy, Millis
from peerline.gateway.answers import Answers
from peerline.gateway.directory import Directory
from peerline.gateway.far_side import FarSide
from peerline.gateway.inbound import Inbound
from peerline.gateway.journal import WAITED_MS, ItemRow, Journal, RequestRow
from peerline.gateway.outbound import Outbound
from peerline.gateway.place import GatewayPlace
from peerline.gateway.routes_file import PendingRoute, RoutesFile, read_routes, write_routes
from peerline.gateway.sessions import Sessions
from peerline.gateway.withdrawals import Withdrawals
from peerline.network.engine import Engine
from peerline.wire.instants import instant, millis


class Relay:
    """`engines` by network, the default one first; `tell` reaches the person, once for each item that waits."""

    def __init__(
        self,
        place: GatewayPlace,
        journal: Journal,
        engines: Callable[[], Mapping[str, Engine]],
        sessions: Sessions,
        *,
        now: Callable[[], Millis],
        entropy: Entropy,
        tell: Callable[[ItemRow, str], None],
        say: Callable[[str], None],
    ) -> None:
        self._place, self._journal, self._engines, self._now, self._say = place, journal, engines, now, say
        self._outbound = Outbound(place, journal, self._engine, sessions, now=now, say=say)
        self._inbound = Inbound(place, journal, sessions, now=now, entropy=entropy, tell=tell, say=say)
        self._answers = Answers(journal, sessions, now=now, say=say)
        self._withdrawals = Withdrawals(journal, self._engine, sessions, now=now, say=say)
        self._far_side = FarSide(journal, sessions, now=now)
        self._directory, self._sessions = Directory(), sessions
        self._written: RoutesFile | None = None
        self._troubles: dict[str, str | None] = {}

    def adopt(self) -> None:
        """Take over the subscriptions that another gateway wrote into routes.json, once at the start."""
        found = read_routes(self._place.routes)
        if found is None:
            return
        known = {(session, room) for session, room, _ in self._journal.read(lambda tx: tx.subscriptions())}
        for session, rooms in found.subscriptions.items():
            for room in rooms:
                if (session, room) not in known:
                    self._journal.write(
                        lambda tx, session=session, room=room: tx.subscribe(session, room, default=False)  # type: ignore[misc]
                    )
        for one in found.pending:
            self._adopt(one)

    def step(self) -> None:
        """One pass over everything; what can't go on now, on a full disk too, is tried again with the next.

        Raises:
            TakenOver
        """
        self._try("place", self._journal.require_place)
        self._try("requests", self._outbound.step)
        self._try("withdrawals", self._withdrawals.step)
        self._try("networks", self._receive)
        self._try("expiry", self._expire)
        self._try("routes", self._publish)
        self._try("directory", self._tell_directory)

    def _tell_directory(self) -> None:
        self._sessions.publish(self._directory.known(self._engines(), self._now()))

    def _receive(self) -> None:
        for network, engine in self._engines().items():
            self._try(f"network={network}", partial(self._inbound.step, network, engine))
            self._try(f"answers network={network}", partial(self._answers.step, network, engine))
            self._try(f"far side network={network}", partial(self._far_side.step, network, engine))

    def _try(self, what: str, work: Callable[[], None]) -> None:
        """A trouble ends no other part of the pass, and is said when it begins, not with each pass."""
        reason = None
        try:
            work()
        except PeerlineError as error:
            reason = error.code
        if reason is not None and self._troubles.get(what) != reason:
            self._say(f"relay-degraded {what} reason={reason}")
        self._troubles[what] = reason

    def send_one(self, stem: str) -> RequestRow:
        """Send one claimed request and record who waits in its thread.

        Raises:
            UnknownRequest
        """
        row = self._outbound.send_one(stem)
        self._publish()
        return row

    def publish(self) -> None:
        """Tell the results that nobody was told of, and bring routes.json up to the journal."""
        self._outbound.tell_results()
        self._publish()

    def _engine(self, network: str | None) -> Engine:
        engines = self._engines()
        if network is None:
            return next(iter(engines.values()))
        try:
            return engines[network]
        except KeyError:
            raise UnknownNetwork(f"this machine is in no network {network[:64]!a}") from None

    def _adopt(self, one: PendingRoute) -> None:
        if self._journal.read(lambda tx: tx.request_of(one.thread)) is not None:
            return
        stem = f"adopted-{one.thread}"
        at = _moment(one.asked, self._now())
        if self._now() - at > WAITED_MS:
            return
        self._journal.write(lambda tx: tx.add_request(stem, at))
        self._journal.write(
            lambda tx: tx.set_request(
                stem,
                state="sent",
                thread=one.thread,
                session=one.session,
                summary=one.summary,
                reply_key=one.reply_key,
                told=1,
            )
        )

    def _expire(self) -> None:
        for row in self._journal.read(lambda tx: tx.requests("sent")):
            if row.over(self._now()):
                self._journal.write(
                    lambda tx, stem=row.stem: tx.set_request(stem, state="expired", told=0),  # type: ignore[misc]
                    "expired",
                )

    def _publish(self) -> None:
        """routes.json follows the journal; it is written only when it would say something else."""
        subscriptions: dict[str, tuple[str, ...]] = {}
        for session, room, _ in self._journal.read(lambda tx: tx.subscriptions()):
            subscriptions[session] = (*subscriptions.get(session, ()), room)
        pending = tuple(
            PendingRoute(
                thread=row.thread,
                session=row.session or "",
                asked=instant(row.at),
                summary=row.summary or "",
                reply_key=row.reply_key,
            )
            for row in self._journal.read(lambda tx: tx.requests("sent"))
            if row.thread is not None
        )
        routes = RoutesFile(subscriptions=subscriptions, pending=pending)
        if routes == self._written:
            return
        try:
            write_routes(self._place.routes, routes)
        except OSError as error:
            self._say(f"relay-degraded routes={error.strerror}")
            return
        self._written = routes


class UnknownNetwork(PeerlineError):
    code = "UNKNOWN_NETWORK"


def _moment(text: str, otherwise: Millis) -> Millis:
    try:
        return millis(text)
    except ValueError:
        return otherwise
