"""Where a network's repository is: only forms that cannot make git run anything or read an option."""

import re
from typing import Final, NamedTuple

from peerline.core.fence import visible
from peerline.network.git.errors import BadRemote

LENGTH: Final = 1_024
_HOST: Final = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])"
_USER: Final = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_PORT: Final = r"(?::[0-9]{1,5})?"
_CHARS: Final = r"[!-\[\]-~]"  # printable ASCII without space and backslash
# None of them fits what another fits; each is compiled when an address comes to it, which costs a command most of all.
_FORMS: Final = (
    ("file", r"(?:file://)?/.*"),
    ("https", rf"https://(?:{_USER}@)?{_HOST}{_PORT}/{_CHARS}+"),
    ("ssh", rf"ssh://(?:{_USER}@)?{_HOST}{_PORT}/{_CHARS}+"),
    ("ssh", rf"(?:{_USER}@)?{_HOST}:(?![-/:]){_CHARS}+|(?:{_USER}@)?{_HOST}:/(?!/){_CHARS}+"),
)


class RemoteAddress(NamedTuple):
    """`url` is what git is given, `protocol` the only one it may speak: https, ssh or file."""

    url: str
    protocol: str


def remote_address(text: str) -> RemoteAddress:
    """Check the address of a repository.

    Raises:
        BadRemote: another protocol (`ext::`, `git://`, `http://`), a relative path, an option, a password inside.
    """
    if len(text) <= LENGTH and text.isprintable() and "::" not in text.split("/", 1)[0]:
        for protocol, form in _FORMS:
            if re.fullmatch(form, text):
                return RemoteAddress(text, protocol)
    raise BadRemote(
        f"not an address of a repository: {visible(text, 100)}; use https://HOST/PATH, ssh://USER@HOST/PATH, "
        "USER@HOST:PATH or an absolute path, without a password in it"
    )
