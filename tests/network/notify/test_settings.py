"""What `notify` in config.yaml may say."""

import pytest

from peerline.network.notify.settings import NotifySettings, Sink, notify_settings
from peerline.wire.yaml_core import load


@pytest.mark.parametrize(
    ("text", "sinks"),
    [
        ("~", (Sink.OS,)),
        ("{}", (Sink.OS,)),
        ("none", (Sink.NONE,)),
        ("[file, terminal, file]", (Sink.FILE, Sink.TERMINAL)),
        ("{sinks: os}", (Sink.OS,)),
        ("{sinks: []}", ()),
        ("{sinks: [webhook], webhook: 'https://hooks.example.test:8443/x?y=z'}", (Sink.WEBHOOK,)),
    ],
)
def test_sinks_are_named(text: str, sinks: tuple[Sink, ...]) -> None:
    found = notify_settings(load(text))
    assert (found.sinks, found.faults) == (sinks, ())


@pytest.mark.parametrize(
    ("text", "says", "sinks"),
    [
        ("{sinks: [os, pager]}", "pager", (Sink.OS,)),
        ("{sinks: [webhook, file]}", "no notify.webhook", (Sink.FILE,)),
        ("{sinks: [webhook], webhook: 'file:///etc/passwd'}", "no http or https", ()),
        ("{sinks: [webhook], webhook: 'http://a b/'}", "no http or https", ()),
        ("{sinks: [webhook], webhook: 'http://[::1'}", "no http or https", ()),
        ('{sinks: [webhook], webhook: "http://a/\\r\\nX: y"}', "no http or https", ()),
        ("{sound: loud}", "sound", (Sink.OS,)),
        ("{sinks: 7}", "7", ()),
    ],
)
def test_what_is_wrong_is_told_and_the_rest_holds(text: str, says: str, sinks: tuple[Sink, ...]) -> None:
    found = notify_settings(load(text))
    assert says in " ".join(found.faults)
    assert found.sinks == sinks


def test_the_default_is_the_desktop() -> None:
    assert notify_settings(None) == NotifySettings(sinks=(Sink.OS,))
