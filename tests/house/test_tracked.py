"""Nothing of one machine, one registry or one workplace is in the repository."""

import re

from tests.house.tracked import pages, shown, tracked

# Written in pieces, so that this file does not find itself.
HOSTS = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "deb.debian" + ".org", "crates" + ".io")
PLACES = ("/wo" + "rk/", "/ro" + "ot/", ".py" + "env/")
BINARY = {".png", ".db", ".gz", ".whl"}


def _texts() -> list[tuple[str, str]]:
    return [(shown(path), path.read_text()) for path in tracked() if path.suffix not in BINARY]


def test_no_file_names_a_package_registry() -> None:
    assert [(name, host) for name, text in _texts() for host in HOSTS if host in text] == []


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert [(name, place) for name, text in _texts() for place in PLACES if place in text] == []


def test_no_file_holds_a_conflict_or_a_promise_to_finish_later() -> None:
    unfinished = re.compile(r"^(<{7}|>{7}) |\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b", re.MULTILINE)
    assert [name for name, text in _texts() if unfinished.search(text)] == []


def test_no_test_waits_for_time() -> None:
    nap = re.compile(r"\b(time|asyncio|anyio|trio)\.sl" + r"eep\(")
    assert [name for name, text in _texts() if name.startswith("tests/") and nap.search(text)] == []


def test_links_between_pages_lead_somewhere() -> None:
    link = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
    broken = [
        (shown(page), target)
        for page in pages()
        for target in link.findall(page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []
