"""`kxm session token`: the file that limits what this user's sessions may do, or that an operator leaves for them."""

import secrets
import time
from pathlib import Path
from typing import Final

import click

from peerline.cli.hot_paths import private_write
from peerline.cli.hot_policy import found_policy, token_file
from peerline.cli.options import Asked, LazyGroup, refused
from peerline.core.policy import session_token

COMMANDS: Final = {"token": ("peerline.cli.session:token", "The saved session token: look, issue, remove.")}


@click.group("session", cls=LazyGroup, lazy=COMMANDS)
def session() -> None:
    """What limits the tools of this user's agent sessions."""


@click.command("token")
@click.option(
    "--status", "act", flag_value="status", default=True, help="Say whether there is one and whether it holds."
)
@click.option("--issue", "act", flag_value="issue", help="Save one for 24 hours that allows every tool.")
@click.option("--clear", "act", flag_value="clear", help="Remove it; without one every tool is allowed.")
@click.pass_obj
def token(asked: Asked, act: str) -> int:
    """The file session.token in KXM_USER_CONFIG_DIR (~/.config/kxm).

    It is not signed: it keeps a willing agent on its path. KXM_ATTEMPT_TOKEN and KXM_SESSION_TOKEN come before it.
    """
    path = Path(token_file(asked.env))
    if act != "status" and asked.dry_run:
        return asked.planned(f"session token --{act}", file=str(path))
    if act == "issue":
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            private_write(str(path), session_token(f"ses_{secrets.token_hex(16)}", int(time.time() * 1000)).encode())
        except OSError as error:
            raise refused("session_token_unwritable", f"{path}: {error.strerror}") from None
        return asked.done("session token", f"saved for 24 hours: {path}", file=str(path))
    if act == "clear":
        there = path.exists()
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise refused("session_token_unwritable", f"{path}: {error.strerror}") from None
        return asked.done("session token", "removed" if there else "there was none", removed=there)
    policy = found_policy(asked.env, time.time)
    if policy is None:
        return asked.done("session token", "no token: every tool is allowed", found=False)
    where, broken = policy.source.name, policy.broken
    text = f"{where}: {broken}; it blocks every tool ({policy.source.remedy})" if broken else f"{where}: it holds"
    facts = {"found": True, "source": where, "valid": not broken}
    return asked.done("session token", text, **facts, **({"detail": broken} if broken else {}))
