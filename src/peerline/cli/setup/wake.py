"""Whether a session of the client is really woken, and how soon: one is begun in a temporary home that holds what setup
writes, with a hub and a stand-in for the model beside it; it is left idle, and a peer asks it something.

The user's account, hub, home and running sessions have no part in it.
"""

import io
import json
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure
from peerline.cli.setup.client import Client, Env, snippet
from peerline.cli.setup.probe import QUIET, Checked, apart
from peerline.cli.setup.wake_model import StandIn
from peerline.cli.setup.wake_terminal import Terminal
from peerline.cli.try_narrator import Narrator
from peerline.cli.try_stage import Broken, Stage
from peerline.client.hub import Hub
from peerline.core.errors import PeerlineError

HERE_S: Final = 60.0
WOKEN_S: Final = 40.0
LOOK_S: Final = 0.1
NAME, PEER, PROJECT = "woken", "setup", "setup"
TRIED: Final = "a session of its own, in a temporary home, with a stand-in for the model"
REQUEST: Final = "This is the request by which `peerline setup` tries whether this session is woken."


@dataclass(frozen=True, slots=True)
class Trial:
    """What one client's trial is made of: its program, and the folder that everything of it stands in."""

    client: Client
    program: str
    kxm: str
    place: Path
    env: dict[str, str]
    model: StandIn
    peer: Hub

    def run(self) -> str:
        """What was seen, with the time from the request to the turn that it began, or was named in.

        Raises:
            Broken: a step did not come about; the text says which, and what is known of it.
        """
        session = self.client.session
        assert session is not None
        begun = session(self.env, self.model.url)
        for part in self.client.parts(self.env, self.kxm):
            _write(part.path, snippet(part))
        for path, value in begun.files.items():
            _merge(path, value)
        folder = self.place / "work"
        folder.mkdir()
        env = {**self.env, **QUIET, **begun.env, "PWD": str(folder)}
        words = [self.program, *begun.words]
        if not begun.waits:
            return self._told(words, folder, env)
        with Terminal(words, folder, env) as terminal:
            self._on_the_hub(terminal)
            if begun.opening and self.model.heard(begun.opening, HERE_S) is None:
                raise Broken(f"its session never asked its model; it shows: {terminal.last_line or 'nothing'}")
            return f"woken {self._woken():.1f} s after a request: {TRIED}"

    def _told(self, words: list[str], folder: Path, env: dict[str, str]) -> str:
        """One run makes the session known; what is sent to it then has to be named in the next."""
        with Terminal(words, folder, env) as terminal:
            self._on_the_hub(terminal)
            if not terminal.ends(HERE_S):
                raise Broken(f"its run did not end within {HERE_S:.0f} s; it shows: {terminal.last_line or 'nothing'}")
        sent = self.peer.send(NAME, REQUEST, allow_offline=True)
        began = time.monotonic()
        with Terminal(words, folder, env) as terminal:
            at = self.model.heard(sent.id, HERE_S)
        if at is None:
            raise Broken(f"its next run was not told of a request; it shows: {terminal.last_line or 'nothing'}")
        return f"told of a waiting request {at - began:.1f} s after the start of its next run, by its hooks: {TRIED}"

    def _on_the_hub(self, terminal: Terminal) -> None:
        end = time.monotonic() + HERE_S
        while time.monotonic() < end:
            if any(agent.name == NAME and agent.online for agent in self.peer.agents()):
                return
            if terminal.ended:
                raise Broken(f"its session ended before it was on the hub: {terminal.last_line or 'without a word'}")
            time.sleep(LOOK_S)
        raise Broken(
            f"its session did not come onto the hub within {HERE_S:.0f} s; it shows: {terminal.last_line or 'nothing'}"
        )

    def _woken(self) -> float:
        sent_at = time.monotonic()
        sent = self.peer.send(NAME, REQUEST)
        at = self.model.heard(sent.id, WOKEN_S)
        if at is None:
            why = self.peer.trail(sent.id).standing
            raise Broken(f"a request did not wake its session within {WOKEN_S:.0f} s: {why}")
        return at - sent_at


def wakes(client: Client, kxm: str, env: Env) -> Checked:
    """Wake a session of the client, or say at which step that failed and what to do next."""
    program = client.program(env)
    if client.session is None:
        return Checked(None, f"no session of {client.title} was woken: {client.unwoken}")
    if program is None:
        return Checked(None, f"`{client.programs[0]}` is not on the PATH, so no session of it was woken")
    narrator = Narrator(io.StringIO())
    try:
        with TemporaryDirectory(prefix="kxm-wake-", ignore_cleanup_errors=True) as place, Stage(narrator) as stage:
            stage.start_hub()
            ours = {"KXM_STATE_HOME": stage.state, "KXM_SERVER_URL": stage.url, "KXM_PROJECT": PROJECT}
            around = apart(env, place) | ours
            token = Caller({**around, "KXM_AGENT_NAME": PEER}, {}).token()
            with Hub(stage.url, project=PROJECT, name=PEER, token=token) as peer, StandIn() as model:
                trial = Trial(client, program, kxm, Path(place), {**around, "KXM_AGENT_NAME": NAME}, model, peer)
                seen = trial.run()
    except (Broken, Failure, PeerlineError, OSError) as error:
        what = error.detail if isinstance(error, Failure) else str(error)
        return Checked(False, f"not woken: {what}. Next: `kxm doctor`, then this again; `--no-wake` leaves it out")
    return Checked(True, seen)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _merge(path: Path, value: Any) -> None:
    """What a session needs beside what setup writes: text goes below, members go beside."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if isinstance(value, str):
        _write(path, value + "\n" + text)
    else:
        _write(path, json.dumps({**(json.loads(text) if text else {}), **value}))
