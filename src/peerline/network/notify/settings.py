"""What the machine's owner wants to be told by: `notify` in `config.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit


class Sink(StrEnum):
    OS = "os"
    FILE = "file"
    TERMINAL = "terminal"
    WEBHOOK = "webhook"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifySettings:
    """`faults` are sentences about what in the file cannot be followed."""

    sinks: tuple[Sink, ...] = (Sink.OS,)
    webhook: str | None = None
    faults: tuple[str, ...] = ()


_KNOWN: Final = ", ".join(Sink)


def notify_settings(value: object) -> NotifySettings:
    """From the member `notify`: `{sinks: [os, file], webhook: https://…}`, or one sink's name; None: the defaults.

    What is wrong is told in `faults` and left out; a webhook without an address is.
    """
    if value is None:
        return NotifySettings()
    if not isinstance(value, Mapping):
        value = {"sinks": value}
    faults: list[str] = [f"notify has no {str(name)[:40]!r}" for name in value if name not in ("sinks", "webhook")]
    listed = value.get("sinks", ["os"])
    sinks: list[Sink] = []
    for name in listed if isinstance(listed, list) else [listed]:
        try:
            sinks.append(Sink(str(name)))
        except ValueError:
            faults.append(f"notify.sinks has {str(name)[:40]!r}; known are {_KNOWN}")
    address = _web_address(value.get("webhook"))
    if address is None and value.get("webhook") is not None:
        faults.append("notify.webhook is no http or https address")
    if Sink.WEBHOOK in sinks and address is None:
        faults.append("notify.sinks names webhook, and there is no notify.webhook")
        sinks.remove(Sink.WEBHOOK)
    return NotifySettings(sinks=tuple(dict.fromkeys(sinks)), webhook=address, faults=tuple(faults))


def _web_address(value: object) -> str | None:
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or " " in value:
        return None
    try:
        parts = urlsplit(value)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return value if known else None
