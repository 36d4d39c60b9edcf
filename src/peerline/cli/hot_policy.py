"""Which token limits the tools of this process, if any (spec/hub.md 5.4); the rules are in `core.policy`.

The first of KXM_ATTEMPT_TOKEN, KXM_SESSION_TOKEN and the file `session.token` in the user's config folder counts.
"""

from __future__ import annotations

import os

from peerline.cli.hot_output import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from peerline.core.policy import Policy

FILE = "session.token"
# The tool that a verb of `kxm peer` is, where it has another name.
TOOLS = {"note": "kxm_reply", "trace": "kxm_get", "undelivered": "kxm_get", "resend": "kxm_send"}


def token_file(env: dict[str, str]) -> str:
    home = env.get("HOME") or os.path.expanduser("~")
    return os.path.join(env.get("KXM_USER_CONFIG_DIR") or os.path.join(home, ".config", "kxm"), FILE)


def found_policy(env: dict[str, str], now_s: Callable[[], float]) -> Policy | None:
    """What the token says that counts now; None: there is none, and everything is allowed."""
    for name, attempt in (("KXM_ATTEMPT_TOKEN", True), ("KXM_SESSION_TOKEN", False)):
        if token := env.get(name, "").strip():
            return _read(token, name, attempt, f"unset or replace {name}", now_s)
    path = token_file(env)
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError:
        token = ""  # there is one, and it cannot be read: nothing is allowed
    else:
        token = os.read(fd, 65_536).decode("latin-1")
        os.close(fd)
    return _read(token, path, False, "`kxm session token --clear` removes it", now_s)


def _read(token: str, name: str, attempt: bool, remedy: str, now_s: Callable[[], float]) -> Policy:
    from peerline.core.policy import Source, read_policy

    return read_policy(token, Source(name, attempt, remedy), int(now_s() * 1000))


def permit(env: dict[str, str], verb: str, fields: dict[str, object]) -> None:
    """Raises: Failure: a token does not allow this verb of `kxm peer`."""
    from time import time

    policy = found_policy(env, time)
    denial = None if policy is None else policy.denial(TOOLS.get(verb, f"kxm_{verb}"), fields)
    if denial is not None:
        raise Failure(denial.text, error=denial.code, exit_code=2)
