"""The secret scanner at the door to Git, with the rules that the network's own policy adds."""

from collections.abc import Mapping

from peerline.network.clone import Clone
from peerline.network.scanner.policy import ScanPolicy, scan_policy
from peerline.network.scanner.refusal import Written, require_no_secret, require_no_secret_in
from peerline.wire import yaml_core

POLICY = ".komnet/policy.yaml"


def require_clean(clone: Clone, post: Written) -> None:
    """Raises: SecretDetected, InvalidPost: longer than the network takes."""
    require_no_secret(post, policy(clone))


def require_clean_fields(clone: Clone, fields: Mapping[str, object]) -> None:
    """The same for what is no post: a profile, a room's title.

    Raises: SecretDetected
    """
    require_no_secret_in(fields, policy(clone))


def policy(clone: Clone) -> ScanPolicy:
    """What the network's main says; a file that can't be read leaves the defaults, and `notices` says so."""
    data = clone.file.read(lambda tx: tx.files.get(POLICY))
    if data is None:
        return scan_policy(None)
    try:
        return scan_policy(yaml_core.load(data.decode()))
    except (ValueError, yaml_core.InvalidYaml):
        return ScanPolicy(notices=("policy.yaml can't be read; the defaults hold",))
