"""Resources: what exists of a cluster at its provider."""

from __future__ import annotations

from dataclasses import dataclass

TAG = "overtone-cluster"
"""The tag, or label, of all that the launcher makes; its value is the cluster's name."""


@dataclass(frozen=True)
class Resource:
    """Something of a cluster that exists at the provider.

    Attributes:
        kind: Such as "instance", "volume", "process", "Pod" or "job".
        id: The provider's name of it.
        state: The provider's word, such as "running".
        since: When it began, in seconds since 1970; None if the provider does not say.
        node_type: Its machine type, such as "g5.xlarge"; None if it is not a machine.
        spot: Whether it is a spot machine.
        dollars: US dollars an hour, as the provider says now; None if it does not say.
    """

    kind: str
    id: str
    state: str
    since: float | None = None
    node_type: str | None = None
    spot: bool = False
    dollars: float | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether it is a host that did not say what runs there; `state` has the error."""
        return self.kind == "host" and self.since is None
