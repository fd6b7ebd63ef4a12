"""Errors of clouds: what went wrong, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from overtone.cluster.resource import Resource
from overtone.errors import OvertoneError


class CloudError(OvertoneError):
    """A cloud refused a request, did not answer, or something could not be deleted.

    Attributes:
        left: The resources of the cluster that may still exist; empty if none is known.
    """

    def __init__(self, message: str, left: Sequence[Resource] = ()) -> None:
        listed = "".join(f"\n  {shown(resource)}" for resource in left)
        super().__init__(f"{message}\nMay still exist, and may still cost:{listed}" if left else message)
        self.message = message
        self.left = tuple(left)


def shown(resource: Resource) -> str:
    """Return a resource as a line of text, such as "instance i-0abc (g5.xlarge, running)"."""
    details = ", ".join(word for word in (resource.node_type, resource.state) if word)
    return f"{resource.kind} {resource.id}" + (f" ({details})" if details else "")
