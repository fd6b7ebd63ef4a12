"""Ray's node provider for GCP, with machines on demand where spot ones are missing.

Ray loads it by its name, on this machine and on the head.
"""

from __future__ import annotations

import copy
import logging
from typing import Any

from ray.autoscaler._private.gcp import config as ray_gcp
from ray.autoscaler._private.gcp.node_provider import GCPNodeProvider
from ray.autoscaler.tags import TAG_RAY_USER_NODE_TYPE

from overtone.cluster.spot_shortage import WAIT_S, SpotShortage

logger = logging.getLogger(__name__)

SPOT_WAIT_KEY = "overtone_spot_wait_s"
"""The key of Ray's section `provider` for the seconds without spot machines; default `WAIT_S`."""

_NO_CAPACITY = ("ZONE_RESOURCE_POOL_EXHAUSTED", "RESOURCE_POOL_EXHAUSTED", "STOCKOUT")


class NodeProvider(GCPNodeProvider):  # type: ignore[misc]
    """Machines of a cluster on Compute Engine."""

    def __init__(self, provider_config: dict[str, Any], cluster_name: str) -> None:
        super().__init__(provider_config, cluster_name)
        self._shortage = SpotShortage(float(provider_config.get(SPOT_WAIT_KEY, WAIT_S)))

    def create_node(self, base_config: dict[str, Any], tags: dict[str, str], count: int) -> dict[str, Any]:
        """Start machines: spot ones as asked, or on demand if there were none for ten minutes.

        Args:
            base_config: The body of the request.
            tags: Ray's labels.
            count: Machines to start.

        Returns:
            The operations by the machines' names.
        """
        if base_config.get("scheduling", {}).get("provisioningModel") != "SPOT":
            return dict(super().create_node(base_config, tags, count))
        node_type = tags.get(TAG_RAY_USER_NODE_TYPE, "")
        with self.lock:  # no other request of this process comes between
            before = set(self.non_terminated_nodes({}))
            try:
                machines = dict(super().create_node(base_config, dict(tags), count))
            except Exception as error:
                if not _is_shortage(error) or not self._shortage.has_lasted(node_type):
                    raise
                n_missing = count - len(set(self.non_terminated_nodes({})) - before)
                if n_missing <= 0:
                    raise
                logger.warning(
                    "no spot machines of node type %s for %g s: starting %d on demand",
                    node_type,
                    self._shortage.wait_s,
                    n_missing,
                )
                return dict(super().create_node(_on_demand(base_config), dict(tags), n_missing))
        self._shortage.end(node_type)
        return machines

    @staticmethod
    def bootstrap_config(cluster_config: dict[str, Any]) -> dict[str, Any]:
        """Return Ray's config with what only GCP can tell.

        If the head has a service account already, Ray's own step that makes one and gives it roles in the
        project is left out.
        """
        nodes = cluster_config["available_node_types"]
        head = nodes[cluster_config["head_node_type"]]["node_config"]
        if "serviceAccounts" not in head:
            return dict(ray_gcp.bootstrap_gcp(cluster_config))
        config = {**copy.deepcopy(cluster_config), "head_node": {}}
        _, _, compute, _ = ray_gcp.construct_clients_from_provider_config(config["provider"])
        return dict(ray_gcp._configure_subnet(config, compute))


def _is_shortage(error: Exception) -> bool:
    return any(code in str(error) for code in _NO_CAPACITY)


def _on_demand(base_config: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request for a spot machine as that of one for a machine on demand."""
    config = copy.deepcopy(base_config)
    scheduling = config["scheduling"]
    for key in ("provisioningModel", "automaticRestart"):
        scheduling.pop(key, None)
    if "maxRunDuration" not in scheduling:
        scheduling.pop("instanceTerminationAction", None)  # It needs one of the two.
    return config
