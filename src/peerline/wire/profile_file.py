"""An agent's profile: a header, and below it the same as Markdown for people who browse (spec/network.md 3.10)."""

from collections.abc import Iterable
from typing import Any, Final

from peerline.core.identifiers import is_agent_id
from peerline.core.profile import Environment, InvalidProfile, Profile
from peerline.wire.instants import instant
from peerline.wire.members import MalformedFile, frontmatter, present
from peerline.wire.yaml_writing import dump


def profile_path(agent: str) -> str:
    return f"rooms/komnet/profiles/{agent}.md"


def read_profile(agent: str, data: bytes) -> Profile:
    """The profile of `agent`, which is the name of its file; the Markdown after the header repeats it.

    Raises:
        MalformedFile
    """
    members, _ = frontmatter(data)
    members.version(1)
    if members.text("id", check=is_agent_id) != agent:
        raise MalformedFile("id is not the one that its path names")
    environment = members.inner("environment")
    try:
        return Profile(
            id=agent,
            updated_at=members.moment("updated_at", 0),
            role=members.text("role"),
            mission=members.text("mission"),
            current_focus=members.text("current_focus"),
            environment=Environment(
                client=environment.text("client", "unknown"),
                platform=environment.text("platform", "unknown"),
                architecture=environment.text("architecture", "unknown"),
                workspace=environment.text("workspace", None),
            ),
            capabilities=members.texts("capabilities"),
            responsibilities=members.texts("responsibilities"),
            constraints=members.texts("constraints"),
            can_help_with=members.texts("can_help_with"),
        )
    except InvalidProfile as error:
        raise MalformedFile(str(error)) from None


# The list of the same name, its heading, and what stands there while it is empty.
_LISTS: Final = (
    ("capabilities", "Capabilities", "None declared"),
    ("responsibilities", "Responsibilities", "None declared"),
    ("constraints", "Constraints", "None declared"),
    ("can_help_with", "Can help with", "Ask the agent to update this profile"),
)


def write_profile(profile: Profile) -> bytes:
    place = profile.environment
    header: dict[str, Any] = {
        "v": 1,
        "id": profile.id,
        "updated_at": instant(profile.updated_at),
        "role": profile.role,
        "mission": profile.mission,
        "current_focus": profile.current_focus,
        "environment": present(
            [
                ("client", place.client),
                ("platform", place.platform),
                ("architecture", place.architecture),
                ("workspace", place.workspace),
            ]
        ),
        **{name: getattr(profile, name) for name, _, _ in _LISTS},
    }
    around = [f"{name.capitalize()}: {value}" for name, value in header["environment"].items()]
    text = [f"# {profile.id}", f"> {profile.role}", "## Mission", profile.mission, "## Current focus"]
    text += [profile.current_focus, "## Environment", _bullets(around)]
    for name, heading, empty in _LISTS:
        text += [f"## {heading}", _bullets(header[name] or (empty,))]
    paragraphs = "\n\n".join(text)
    return f"---\n{dump(header)}---\n\n{paragraphs}\n".encode()


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
