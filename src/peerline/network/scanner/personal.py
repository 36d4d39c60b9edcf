"""Personal data, where a network forbids it: only what is plain from its form, and addresses only in numbers."""

import re
from collections.abc import Iterator
from typing import Final

_EMAIL: Final = re.compile(r"[A-Za-z0-9_%+-][A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")
_PHONE: Final = re.compile(r"(?<![\w+])\+[1-9](?:[ ./()-]{0,2}[0-9]){8,13}(?!\w)")
_IBAN: Final = re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_CARD: Final = re.compile(r"(?<![\w.-])[3-6][0-9]{3}(?:[ -]?[0-9]{4}){2}[ -]?[0-9]{1,7}(?![\w.-])")
_SOCIAL_SECURITY: Final = re.compile(r"(?<![\w-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-])")
_MANY_EMAILS: Final = 5
_MANY_PHONES: Final = 3


def personal_data(text: str) -> Iterator[tuple[str, int]]:
    """Yield rule and place: five e-mail addresses or three phone numbers, an account, card or security number."""
    for rule, shape, many in (
        ("personal-data-emails", _EMAIL, _MANY_EMAILS),
        ("personal-data-phones", _PHONE, _MANY_PHONES),
    ):
        places: dict[str, int] = {}
        for match in shape.finditer(text):
            places.setdefault(match[0].lower(), match.start())
            if len(places) == many:
                yield rule, min(places.values())
                break
    for match in _IBAN.finditer(text):
        if _valid_iban(match[0].replace(" ", "")):
            yield "personal-data-iban", match.start()
    for match in _CARD.finditer(text):
        if _valid_card(re.sub(r"[ -]", "", match[0])):
            yield "personal-data-card", match.start()
    for match in _SOCIAL_SECURITY.finditer(text):
        yield "personal-data-social-security", match.start()


def _valid_iban(account: str) -> bool:
    moved = account[4:] + account[:4]
    return int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def _valid_card(digits: str) -> bool:
    """Luhn's sum is right, and it is not one digit over and over."""
    doubled = [int(d) * 2 if at % 2 else int(d) for at, d in enumerate(reversed(digits))]
    return len(set(digits)) > 1 and sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0
