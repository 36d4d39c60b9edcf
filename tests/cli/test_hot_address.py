"""A hub's URL, taken apart."""

import pytest

from peerline.cli.hot_address import Address, escaped


@pytest.mark.parametrize(
    ("url", "host", "port", "prefix"),
    [
        ("http://127.0.0.1:7331", "127.0.0.1", 7331, ""),
        ("http://127.0.0.1:7331/", "127.0.0.1", 7331, ""),
        ("HTTP://localhost", "localhost", 80, ""),
        ("https://hub.example.com/kxm/", "hub.example.com", 443, "/kxm"),
        ("http://[::1]:8080", "::1", 8080, ""),
    ],
)
def test_a_url_is_host_port_and_prefix(url: str, host: str, port: int, prefix: str) -> None:
    address = Address(url)
    assert (address.host, address.port, address.prefix) == (host, port, prefix)
    assert not address.url.endswith("/")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:7331",
        "ftp://h",
        "http://",
        "http://user:secret@h",
        "http://h?x=1",
        "http://h#x",
        "http://h:0",
        "http://h:65536",
        "http://h:٨٠",
        "http://h/a b",
        "http://h\r\nX: y",
        "unix:/tmp/s",
    ],
)
def test_what_is_no_plain_http_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="credentials, query or fragment") as caught:
        Address(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://LOCALHOST", True),
        ("http://a.localhost", True),
        ("http://[::1]", True),
        ("http://127.0.0.1.example.com", False),
        ("http://128.0.0.1", False),
        ("http://localhost.example.com", False),
    ],
)
def test_loopback_is_this_machine_and_nothing_that_looks_like_it(url: str, loopback: bool) -> None:
    assert Address(url).loopback is loopback


@pytest.mark.parametrize(
    ("part", "path"),
    [("msg_1", "msg_1"), ("../x", "..%2Fx"), ("..", "%2E%2E"), ("ä b", "%C3%A4%20b"), ("a?b#c", "a%3Fb%23c")],
)
def test_a_part_of_a_path_stays_one_part(part: str, path: str) -> None:
    assert escaped(part) == path
