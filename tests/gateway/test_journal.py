"""What the journal shows of a long life."""

from pathlib import Path

from peerline.gateway.journal import Journal, JournalTx
from peerline.gateway.status import status


def test_the_newest_requests_that_are_not_over_are_shown_however_many_there_were(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "gateway.db")

    def many(tx: JournalTx) -> None:
        for number in range(1_100):
            tx.add_request(f"over-{number:04d}", number)
            tx.set_request(f"over-{number:04d}", state="answered")
            tx.add_request(f"refused-{number:04d}", number)
            tx.set_request(f"refused-{number:04d}", state="refused", code="X", detail="y")
        tx.add_request("new", 2_000)

    journal.write(many)
    shown = [one["id"] for one in status(journal)["requests"]]
    assert (len(shown), shown[0], shown[-1]) == (1_000, "refused-0101", "new")
