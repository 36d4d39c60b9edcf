"""The recorded calls, typed into our `komnet`: the same exit codes and the same members in what `--json` prints."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from peerline.cli.komnet.table import LATER
from tests.network.golden import golden_file, needs_golden
from tests.network.interop.differences import ADDED, DIFFERENT
from tests.network.interop.recording import ULID, Recorded, recorded, shape
from tests.network.remotes import BareRemote
from tests.network.sealing import seal

# What happened to the repository before a call of the recording.
BEFORE: dict[tuple[str, int], Callable[["Stage"], None]] = {
    ("captures-3", 9): lambda stage: stage.sealed(),
    ("captures-3", 15): lambda stage: stage.remote_away(),
    ("captures-3", 24): lambda stage: stage.remote_back(),
}
WRITING = ("send", "ask", "answer", "decide", "handshake")
KOMNET = [sys.executable, "-m", "peerline.cli.hot", "komnet"]


@dataclass
class Stage:
    """The recorded agents' homes and the repository between them, in a folder of our own."""

    root: Path
    ids: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("transport", "second"):
            subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.root / f"{name}.git")], check=True)

    def environment(self, agent: str) -> dict[str, str]:
        home = self.root / f"home-{agent}"
        home.mkdir(exist_ok=True)
        author = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", agent), ("EMAIL", f"{agent}@example.test"))
        }
        own = {} if agent == "multi" else {"KOMNET_HOME": str(self.root / agent)}
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "USER": agent.split("-")[0],
            "TZ": "UTC",
            "NO_COLOR": "1",
            **author,
            **own,
        }

    def words(self, call: Recorded) -> list[str]:
        out = []
        for word in call.words:
            word = ULID.sub(lambda found: self.ids.get(found[0], found[0]), word)
            out.append(word.replace("/home/golden", str(self.root)))
        return out

    def type(self, call: Recorded) -> tuple[int, str, str]:
        command, env = [*KOMNET, *self.words(call)], self.environment(call.agent)
        if "env form" in call.words:
            env["KOMNET_AGENT"] = "dana-codex"
        if "Confirm this" in call.out:
            return self._at_terminal(command, env, "y" if call.code == 0 else "n")
        done = subprocess.run(
            command,
            check=False,
            env=env,
            cwd=env["HOME"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )
        return done.returncode, done.stdout, done.stderr

    def _at_terminal(self, command: list[str], env: dict[str, str], says: str) -> tuple[int, str, str]:
        ours, theirs = pty.openpty()
        running = subprocess.Popen(
            command, env=env, cwd=env["HOME"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        said, answered = b"", False
        while True:
            try:
                more = os.read(ours, 4_096)
            except OSError:
                break
            if not more:
                break
            said += more
            if b"[y/N]" in said and not answered:
                os.write(ours, f"{says}\n".encode())
                answered = True
        os.close(ours)
        return running.wait(60), said.decode(), ""

    def sealed(self) -> None:
        """What the recorded peer did with `seal`, which comes later here: by the project's own fixture."""
        seal(BareRemote(self.root / "transport.git"), "architecture", keep=8)

    def remote_away(self) -> None:
        (self.root / "transport.git").rename(self.root / "away.git")

    def remote_back(self) -> None:
        (self.root / "away.git").rename(self.root / "transport.git")

    def learn(self, call: Recorded, out: str) -> None:
        """Which of our ids stands for which recorded one."""
        theirs, mine = ULID.findall(call.out), ULID.findall(out)
        if call.verb in WRITING and theirs and mine:
            self.ids.setdefault(theirs[0], mine[0])


def compare(name: str, call: Recorded, code: int, out: str, err: str) -> list[str]:
    """What is not as recorded, but for the differences that are meant."""
    if (name, call.number) in DIFFERENT:
        return []
    wrong = []
    if code != call.code:
        wrong.append(f"exit code {code}, recorded {call.code}: {(out + err).strip()[:300]}")
    elif (theirs := call.json) is not None:
        try:
            ours = json.loads(out)
        except ValueError:
            return [f"no JSON: {(out + err)[:300]}"]
        recorded_shape, our_shape = shape(theirs), shape(ours)
        for path, kind in recorded_shape.items():
            have = our_shape.get(path)
            parent = path.rpartition("[]")[0] if "[]" in path else None
            if have is None and parent is not None and our_shape.get(f"{parent}[]") is None:
                wrong.append(f"{path}: nothing in the list, recorded {kind}")
            elif have != kind and "null" not in (have, kind):
                wrong.append(f"{path}: {have}, recorded {kind}")
        for path in our_shape:
            if (
                path not in recorded_shape
                and not path.endswith(tuple(ADDED))
                and not _inside_empty(path, recorded_shape)
            ):
                wrong.append(f"{path} is not in the recording")
    return [f"{name} [{call.number}] {call.agent}$ komnet {' '.join(call.words)}: {line}" for line in wrong]


def _inside_empty(path: str, recorded_shape: dict[str, str]) -> bool:
    """Below a list that was recorded empty, or a member recorded as null, nothing is known."""
    parts = path.split(".")
    for end in range(1, len(parts)):
        above = ".".join(parts[:end])
        if recorded_shape.get(above) == "null" or (above.endswith("[]") and above not in recorded_shape):
            return True
    return path.endswith("[]")


@needs_golden
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_recorded_calls_give_the_recorded_codes_and_members(tmp_path: Path) -> None:
    stage, wrong, typed = Stage(tmp_path), list[str](), 0
    try:
        for number in (1, 2, 3, 4):
            name = f"captures-{number}"
            for call in recorded(golden_file(f"{name}.txt")):
                if happened := BEFORE.get((name, call.number)):
                    happened(stage)
                if call.verb in LATER or (number < 4 and "daemon" in call.words):
                    continue
                code, out, err = stage.type(call)
                typed += 1
                assert "Traceback" not in out + err
                stage.learn(call, out)
                wrong += compare(name, call, code, out, err)
    finally:
        subprocess.run(
            [*KOMNET, "daemon", "stop"], env=stage.environment("bob-codex"), capture_output=True, check=False
        )
    print(f"{typed} calls replayed")
    assert not wrong, "\n".join(wrong)
