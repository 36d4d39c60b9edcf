import pytest

from peerline.network.git.address import remote_address
from peerline.network.git.errors import BadRemote


@pytest.mark.parametrize(
    ("text", "protocol"),
    [
        ("https://git.example.test/acme/net.git", "https"),
        ("https://anna@git.example.test:8443/net", "https"),
        ("ssh://git@git.example.test/acme/net.git", "ssh"),
        ("ssh://git@[2001:db8::1]:22/net.git", "ssh"),
        ("git@git.example.test:acme/net.git", "ssh"),
        ("git.example.test:net.git", "ssh"),
        ("git@git.example.test:/srv/net.git", "ssh"),
        ("/srv/git/net.git", "file"),
        ("/srv/git/with space/net.git", "file"),
        ("file:///srv/git/net.git", "file"),
    ],
)
def test_an_address_names_the_one_protocol_it_may_speak(text: str, protocol: str) -> None:
    assert remote_address(text).protocol == protocol
    assert remote_address(text).url == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "net.git",
        "../net.git",
        "--upload-pack=touch x",
        "-u",
        "ext::sh -c touch% x",
        "ext::sh",
        "fd::17",
        "git://git.example.test/net",
        "http://git.example.test/net",
        "HTTPS://git.example.test/net",
        "ftp://git.example.test/net",
        "https://anna:secret@git.example.test/net",
        "https://git.example.test",
        "https:///net",
        "https://-x.example.test/net",
        "https://git.example.test/net\n[core]",
        "https://git.example.test/a b",
        "ssh://-oProxyCommand=touch/net",
        "ssh://git@-oProxyCommand=x/net",
        "ssh://-l@host/net",
        "git@-x:net",
        "-x@host:net",
        "user@host:-x",
        "host:--upload-pack=x",
        "host::net",
        "git@host:",
        "/srv/net\x00.git",
        "/srv/net\r.git",
        "/srv/\x1b[31mnet",
        "/" + "x" * 2_000,
        "file://host/srv/net",
        "file://../net",
        "C:\\net",
        " https://git.example.test/net",
        "https://git.example.test/net ",
    ],
)
def test_any_other_address_is_refused_before_git_sees_it(text: str) -> None:
    with pytest.raises(BadRemote, match="not an address") as refused:
        remote_address(text)
    assert "\x1b" not in refused.value.text
