"""Personal data that a network forbids."""

import pytest

from peerline.network.scanner.personal import personal_data


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("\n".join(f"user{n}@customer.test" for n in range(5)), "personal-data-emails"),
        ("call +49 30 901820, +44 20 7946 0958 or +1 (212) 555-0142", "personal-data-phones"),
        ("account DE89 3704 0044 0532 0130 00", "personal-data-iban"),
        ("account GB82WEST12345698765432.", "personal-data-iban"),
        ("card 4111 1111 1111 1111", "personal-data-card"),
        ("ssn 078-05-1120", "personal-data-social-security"),
    ],
)
def test_what_is_plain_from_its_form_is_found(text: str, rule: str) -> None:
    assert [found for found, _ in personal_data(text)] == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "Co-authored-by: Ada <ada@acme.test>, Bob <bob@acme.test>, ada@acme.test, ada@acme.test, ada@acme.test",
        "the desk has +49 30 901820",
        "DE89 3704 0044 0532 0130 01",
        "order 4111 1111 1111 1112",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "1234567890123456",
        "2026-11-30 and 10.0.0.1:8080, build 000-00-0000",
    ],
)
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert list(personal_data(text)) == []
