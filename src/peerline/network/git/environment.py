"""What every git process is given: an environment built from nothing, and configuration that runs nothing (R36, 3.6).

Nothing of git's own variables is inherited: `GIT_DIR` of the caller would make our writes land in their repository.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from peerline.network.git.errors import GitNotFound

_PASSED: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
)  # fmt: skip
_FALLBACKS: Final = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin")

# Names in trees are never mapped to paths here, so that an odd name must not make a whole room unreadable.
_ONLY_NAMES: Final = (
    "hasDot", "hasDotdot", "hasDotgit", "fullPathname", "emptyName", "duplicateEntries", "treeNotSorted",
    "zeroPaddedFilemode", "nullSha1", "badFilemode", "gitmodulesUrl", "gitmodulesName", "gitmodulesPath",
    "gitmodulesUpdate", "gitmodulesBlob", "gitmodulesMissing", "gitmodulesParse", "gitmodulesLarge",
    "gitmodulesSymlink", "gitattributesBlob", "gitattributesLarge", "gitattributesLineLength", "gitattributesMissing",
)  # fmt: skip

SETTINGS: Final[tuple[tuple[str, str], ...]] = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.symlinks", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.fsync", "all"),
    ("core.quotePath", "false"),
    ("core.bigFileThreshold", "1m"),
    ("core.logAllRefUpdates", "false"),
    ("core.packedGitWindowSize", "16m"),
    ("core.packedGitLimit", "128m"),
    ("core.deltaBaseCacheLimit", "32m"),
    ("protocol.version", "2"),
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("fetch.fsckObjects", "true"),
    ("fetch.writeCommitGraph", "false"),
    ("transfer.bundleURI", "false"),
    ("transfer.credentialsInUrl", "die"),
    ("fastimport.unpackLimit", "0"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("commit.gpgsign", "false"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
    ("log.showSignature", "false"),
    ("log.showRoot", "true"),
    ("filter.lfs.required", "false"),
    ("filter.lfs.smudge", ""),
    ("filter.lfs.process", ""),
    ("safe.bareRepository", "explicit"),
    ("pack.threads", "1"),
    *((f"fetch.fsck.{name}", "ignore") for name in _ONLY_NAMES),
)


def find_git(environ: Mapping[str, str]) -> str:
    """The absolute path of git: `KOMNET_GIT`, then PATH, then where editors forget to look.

    Raises:
        GitNotFound
    """
    named = environ.get("KOMNET_GIT")
    places = environ.get("PATH", "").split(os.pathsep) + list(_FALLBACKS)
    # Not shutil.which, which takes longer to load than to answer.
    name = named or "git"
    found = [Path(name)] if "/" in name else [Path(place, name) for place in places if place.startswith("/")]
    for one in found:
        if os.access(one, os.X_OK) and one.is_file():
            return str(one.absolute())
    raise GitNotFound(f"{name} was not found; install git 2.39.5 or newer, or set KOMNET_GIT to its path")


def git_environment(environ: Mapping[str, str], config: Path, protocol: str, *, ssh: str | None) -> dict[str, str]:
    """The whole environment of a git process. `config` is our file of the user's allowed keys; `protocol` the one
    that the remote needs; `ssh` our command line for it, or None where the user has configured one."""
    built = {name: environ[name] for name in _PASSED if environ.get(name)}
    built |= {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_DEFAULT_REF_FORMAT": "files",
        "GIT_DEFAULT_HASH": "sha1",
        "GIT_ALLOW_PROTOCOL": protocol,
        "GIT_CONFIG_COUNT": str(len(SETTINGS)),
    }
    for number, (key, value) in enumerate(SETTINGS):
        built[f"GIT_CONFIG_KEY_{number}"], built[f"GIT_CONFIG_VALUE_{number}"] = key, value
    if ssh:
        built["GIT_SSH_COMMAND"] = ssh
    return built
