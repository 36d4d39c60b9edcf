import pytest

from peerline.client.address import address
from peerline.core.errors import Invalid


@pytest.mark.parametrize(
    ("url", "authority", "shown"),
    [
        ("http://127.0.0.1:7331", "127.0.0.1:7331", "http://127.0.0.1:7331"),
        ("http://localhost/", "localhost", "http://localhost"),
        ("https://hub.example/kxm/", "hub.example", "https://hub.example/kxm"),
        ("http://[::1]:7331", "[::1]:7331", "http://[::1]:7331"),
        ("unix:/run/hub.sock", "localhost", "unix:/run/hub.sock"),
        ("unix:///run/hub.sock", "localhost", "unix:/run/hub.sock"),
    ],
)
def test_an_address_is_read_and_shown(url: str, authority: str, shown: str) -> None:
    found = address(url)
    assert (found.authority, str(found)) == (authority, shown)


@pytest.mark.parametrize(
    "url",
    [
        *("", "127.0.0.1:7331", "ftp://x", "http://", "http://[::1", "http://x:99999", "http://x/\r\nHost: secret"),
        *("http://user:secret@x", "http://x?token=secret", "http://x#secret"),
        *("unix:relative", "unix:", "unix:/a\0b"),
    ],
)
def test_what_is_no_address_is_refused_without_repeating_a_secret(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        address(url)
    assert "secret" not in str(caught.value)
