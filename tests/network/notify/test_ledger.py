"""A person is told of one thing once, whichever processes tell."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from peerline.network.notify.ledger import KEPT, Ledger


def test_what_is_new_is_new_once_also_for_another_process(tmp_path: Path) -> None:
    assert Ledger(tmp_path / "in" / ".told").new(["a", "b"]) == {"a", "b"}
    assert Ledger(tmp_path / "in" / ".told").new(["b", "c"]) == {"c"}
    assert (tmp_path / "in" / ".told").stat().st_mode & 0o077 == 0


def test_of_many_at_once_each_key_is_new_for_exactly_one(tmp_path: Path) -> None:
    keys = [f"k{n}" for n in range(20)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: Ledger(tmp_path / ".told").new(keys), range(32)))
    assert sorted(key for one in found for key in one) == sorted(keys)


def test_the_file_does_not_grow_for_ever(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / ".told")
    for start in range(0, KEPT + 500, 100):
        ledger.new([f"{start + n:06}" for n in range(100)])
    lines = (tmp_path / ".told").read_text().splitlines()
    assert len(lines) == KEPT
    assert ledger.new([lines[0], lines[-1]]) == set()


def test_a_file_that_cannot_be_used_makes_everything_new(tmp_path: Path) -> None:
    (tmp_path / ".told").symlink_to(tmp_path / "elsewhere")
    for _ in range(2):
        assert Ledger(tmp_path / ".told").new(["a"]) == {"a"}
    assert not (tmp_path / "elsewhere").exists()


def test_nothing_to_tell_writes_nothing(tmp_path: Path) -> None:
    assert Ledger(tmp_path / ".told").new([]) == set()
    assert list(tmp_path.iterdir()) == []
