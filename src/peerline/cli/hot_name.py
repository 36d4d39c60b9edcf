"""The name of an agent session for which none is set: the one its user gave it in the client, else
`<repository>-<branch>`; the same after each restart."""

import os

from peerline.cli.hot_identity import _main, _repository, branch_of, read_object

RESERVED = ("komnet-gateway", "human", "system", "admin")
NAME = 64


def session_name(env: dict[str, str]) -> str:
    """From the client, else the folder's repository (the main one behind a work tree) and branch, else the folder."""
    if given := _given_in_claude(env):
        return _fitting(given)
    folder = env.get("KXM_WORKDIR") or env.get("KXM_PROJECT_DIR") or env.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    folder = os.path.abspath(folder)
    top = _repository(folder, env.get("HOME", ""))
    if top is None:
        return _fitting(os.path.basename(folder))
    branch = branch_of(top)
    repository = os.path.basename(_main(top))
    return _fitting(f"{repository}-{branch}" if branch else repository)


def _given_in_claude(env: dict[str, str]) -> str | None:
    """What `claude -n NAME` or a renaming says; a name that Claude Code made up changes with each start."""
    session = env.get("CLAUDE_CODE_SESSION_ID")
    if not session:
        return None
    home = env.get("CLAUDE_CONFIG_DIR") or os.path.join(env.get("HOME", ""), ".claude")
    about = read_object(os.path.join(home, "sessions", f"{os.getppid()}.json"))
    name = about.get("name")
    if about.get("sessionId") != session or about.get("nameSource") != "user" or not isinstance(name, str):
        return None
    return name.strip() or None


def _fitting(name: str) -> str:
    """A name that a hub takes."""
    fitting = "".join(c if c.isprintable() and c not in "@/" else "-" for c in name).strip()[:NAME].strip()
    return f"{fitting or 'session'}-agent"[:NAME] if not fitting or fitting.lower() in RESERVED else fitting
