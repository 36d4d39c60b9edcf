"""YAML as the network reads it: the core schema of YAML 1.2, without aliases and duplicate keys (spec/network.md 3.5).

Sizes, depth and time are bounded: what is read here comes from strangers.
"""

from typing import Any, Final

from peerline.core.errors import Invalid
from peerline.wire.yaml_plain import plain_mapping

SIZE_AT_MOST: Final = 262_144
DEPTH_AT_MOST: Final = 16
VALUES_AT_MOST: Final = 10_000


class InvalidYaml(Invalid):
    code = "INVALID_YAML"


def load(text: str) -> Any:
    """The one document in `text`: mappings, lists, texts, numbers, truth values, None. Nothing in it: None.

    Raises:
        InvalidYaml: no YAML, or more than is taken: aliases, keys said twice, more than 256 Ki characters, 16 levels or
            10,000 values.
    """
    if len(text) > SIZE_AT_MOST:
        raise InvalidYaml(f"longer than {SIZE_AT_MOST:,} characters")
    plain = plain_mapping(text, VALUES_AT_MOST)
    if plain is not None:
        return plain
    from peerline.wire.yaml_whole import load_whole  # here: nine documents of ten are plain

    return load_whole(text)
