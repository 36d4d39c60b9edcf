"""What an agent is told about a target that is not there: what to do, wherever the target is."""

from peerline.core.errors import Conflict, TargetNotFound
from peerline.tools.troubles import told


def test_of_a_name_it_says_where_was_looked() -> None:
    text = told(TargetNotFound("online target not found: bob"), "shop\u202e")
    assert text.startswith("online target not found: bob (searched in project shop⟨U+202E⟩; see kxm_list")


def test_of_an_address_in_a_room_it_says_who_is_missing() -> None:
    text = told(TargetNotFound("online target not found: bob@build"), "shop")
    assert "no gateway of project shop is at work; a person can join a network with `peerline join`" in text
    assert "kxm_list" not in text


def test_of_everything_else_it_says_what_the_hub_said() -> None:
    assert told(Conflict("message already has a reply"), "shop") == "message already has a reply"
