"""The secret scanner at the door to Git, with the rules that the network's own policy adds.

The scanner and its engine take longer to import than a reading command takes, so they are imported where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from peerline.network.clone import Clone
from peerline.wire import yaml_core

if TYPE_CHECKING:
    from peerline.network.scanner.policy import ScanPolicy
    from peerline.network.scanner.refusal import Written

POLICY = ".komnet/policy.yaml"


def require_clean(clone: Clone, post: Written) -> None:
    """Raises: SecretDetected, InvalidPost: longer than the network takes."""
    from peerline.network.scanner.refusal import require_no_secret

    require_no_secret(post, policy(clone))


def require_clean_fields(clone: Clone, fields: Mapping[str, object]) -> None:
    """The same for what is no post: a card, a profile, a room's title.

    Raises: SecretDetected
    """
    from peerline.network.scanner.refusal import require_no_secret_in

    require_no_secret_in(fields, policy(clone))


def policy(clone: Clone) -> ScanPolicy:
    """What the network's main says; a file that can't be read leaves the defaults, and `notices` says so."""
    from peerline.network.scanner.policy import ScanPolicy, scan_policy

    data = clone.file.read(lambda tx: tx.files.get(POLICY))
    if data is None:
        return scan_policy(None)
    try:
        return scan_policy(yaml_core.load(data.decode()))
    except (ValueError, yaml_core.InvalidYaml):
        return ScanPolicy(notices=("policy.yaml can't be read; the defaults hold",))
