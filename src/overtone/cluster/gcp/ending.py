"""Ends a cluster's machines from its head, by the head's service account."""

from __future__ import annotations

from overtone.cluster.gcp import compute


def end_from_head(project: str, name: str) -> None:
    """Delete the cluster's machines: workers first, then the head.

    Args:
        project: The project.
        name: The cluster's name.

    Raises:
        CloudError: Some could not be deleted; the others were.
    """
    with compute.opened() as api:
        machines = [one for one in compute.resources(api, project, name) if one.kind == "instance"]
        compute.delete(api, project, sorted(machines, key=compute.is_head), name)
