"""Ends a cluster's machines from its head, by the head's role."""

from __future__ import annotations

from overtone.cluster.aws import deletion, existing
from overtone.cluster.aws.session import client, explained


def end_from_head(region: str, name: str) -> None:
    """Terminate the cluster's machines: workers first, then the head.

    Args:
        region: The region.
        name: The cluster's name.

    Raises:
        CloudError: Some could not be terminated; the others were.
    """
    with explained():
        ec2 = client("ec2", region)
        deletion.request_end(ec2, sorted(existing.instances(ec2, name), key=existing.is_head))
