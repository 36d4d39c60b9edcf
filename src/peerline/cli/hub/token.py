"""`kxm hub token`: create, list, rotate and revoke the tokens of a project, on the running hub."""

import re
from typing import Any, Final

import click

from peerline.cli.hot_address import escaped
from peerline.cli.hot_output import usage, write
from peerline.cli.hub.admin import Administrator
from peerline.cli.options import Asked

UNITS: Final = {"": 1, "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_project = click.option("--project", metavar="P", help="The project (KXM_PROJECT, else the folder's).")
_server = click.option("--server", metavar="URL", help="On this hub (KXM_SERVER_URL).")


class Span(click.ParamType):  # type: ignore[type-arg]  # generic for mypy only
    """Milliseconds, also as 30s, 15m, 24h or 90d."""

    name = "time such as 30s, 15m, 24h or 90d"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"(\d{1,12})(ms|s|m|h|d|)", str(value), re.ASCII)
        if found is None:
            self.fail(f"not a {self.name}", param, ctx)
        return int(found[1]) * UNITS[found[2]]


@click.group("token")
def token() -> None:
    """The tokens of a project.

    Needs the admin token: KXM_AUTH_TOKEN, else the one that the hub of this machine saved.
    """


@token.command("create")
@_project
@click.option("--label", default="", metavar="TEXT", help="Who it is for; shown by list.")
@click.option("--ttl", type=Span(), metavar="TIME", help="How long it is valid: 30s, 15m, 24h, 90d. Default: for ever.")
@_server
@click.pass_obj
def create(asked: Asked, project: str | None, label: str, ttl: int | None, server: str | None) -> int:
    """Make a token and print it, this once."""
    admin = Administrator(asked, server, project)
    body: dict[str, Any] = {"label": label} if label else {}
    if ttl is not None:
        body["ttlMs"] = ttl
    if asked.dry_run:
        return asked.planned("hub token create", project=admin.project, **body)
    made = admin.ask("POST", _path(admin), body)
    return _show_made(asked, "hub token create", admin, made, [])


@token.command("list")
@_project
@_server
@click.pass_obj
def list_(asked: Asked, project: str | None, server: str | None) -> int:
    """Show which tokens there are, not the tokens.

    The hub itself keeps only their hashes.
    """
    admin = Administrator(asked, server, project)
    if asked.dry_run:
        return asked.planned("hub token list", project=admin.project)
    found = admin.ask("GET", _path(admin))
    lines = [f"project {admin.project}: {_count(len(found['tokens']))}"]
    lines += [_line(one) for one in found["tokens"]]
    if found.get("configured"):
        lines.append("and one given to the hub by KXM_PROJECT_TOKENS or hub-env.json")
    lines.append(_door(found, admin.project))
    return asked.done("hub token list", "\n".join(lines), project=admin.project, **found)


@token.command("rotate")
@click.argument("token_id")
@_project
@click.option(
    "--grace", type=Span(), metavar="TIME", help="How long the old one stays valid too. Default: 24h; 0 ends it."
)
@_server
@click.pass_obj
def rotate(asked: Asked, token_id: str, project: str | None, grace: int | None, server: str | None) -> int:
    """Make a new token in the place of TOKEN_ID.

    For the grace time both are valid, so that agents can change over one by one.
    """
    admin = Administrator(asked, server, project)
    _check(token_id)
    body = {} if grace is None else {"graceMs": grace}
    if asked.dry_run:
        return asked.planned("hub token rotate", project=admin.project, tokenId=token_id, **body)
    made = admin.ask("POST", f"{_path(admin)}/{escaped(token_id)}/rotate", body)
    old = made["replaced"]
    until = "ended at once" if old["state"] == "revoked" else f"stays valid until {old['revokedAt']}"
    return _show_made(asked, "hub token rotate", admin, made, [f"the old one, {old['id']}, {until}"])


@token.command("revoke")
@click.argument("token_id")
@_project
@_server
@click.pass_obj
def revoke(asked: Asked, token_id: str, project: str | None, server: str | None) -> int:
    """End TOKEN_ID now, and the streams that it opened."""
    admin = Administrator(asked, server, project)
    _check(token_id)
    if asked.dry_run:
        return asked.planned("hub token revoke", project=admin.project, tokenId=token_id)
    done = admin.ask("DELETE", f"{_path(admin)}/{escaped(token_id)}")
    text = f"revoked {token_id}; what it opened has ended\n{_door(done, admin.project)}"
    return asked.done("hub token revoke", text, project=admin.project, **done)


def _path(admin: Administrator) -> str:
    return f"/v1/projects/{escaped(admin.project)}/tokens"


def _check(token_id: str) -> None:
    """A token in the place of its id stands in the shell's history by now, but must not travel in a path as well."""
    if not re.fullmatch(r"tok_[0-9a-f]{32}", token_id, re.ASCII):
        raise usage("TOKEN_ID is the id that list shows (tok_…), not the token itself")


def _show_made(asked: Asked, command: str, admin: Administrator, made: dict[str, Any], more: list[str]) -> int:
    """The secret alone on stdout, so that a shell can keep it in a variable; what a person should know on stderr."""
    one = made["token"]
    lines = [f"project {admin.project}, token {one['id']}; it is not shown again", *more]
    if "expiresAt" in one:
        lines.append(f"valid until {one['expiresAt']}")
    if made.get("closedToAdminNow"):
        lines.append(
            f"{admin.project} now takes only its own tokens: the admin token does not open it any more,"
            " and what it had opened has ended"
        )
    code = asked.done(command, made["secret"], project=admin.project, **made)
    if code == 0 and not asked.as_json:
        write(2, "\n".join([*lines, "agents use it as KXM_AUTH_TOKEN"]) + "\n")
    return code


def _line(one: dict[str, Any]) -> str:
    until = f"until {one['expiresAt']}" if "expiresAt" in one else "for ever"
    if one["state"] == "rotated":
        until = f"valid until {one['revokedAt']}"
    elif one["state"] != "live":
        until = f"since {one['revokedAt' if one['state'] == 'revoked' else 'expiresAt']}"
    label = one["label"] or "-"
    local = "  (made by itself for this machine)" if one["local"] else ""
    return f"  {one['id']}  {one['state']} {until}  created {one['createdAt']}  {label}{local}"


def _door(answer: dict[str, Any], project: str) -> str:
    if answer.get("adminTokenAccepted"):
        return f"the admin token opens {project} too: no token of its own closes it"
    return f"the admin token does not open {project}"


def _count(number: int) -> str:
    return "1 token" if number == 1 else f"{number or 'no'} tokens"
