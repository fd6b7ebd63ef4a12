"""Ray's node provider for AWS, with client tokens, and machines on demand where spot ones are missing.

Ray loads it by its name, on this machine and on the head.
"""

from __future__ import annotations

import copy
import logging
import time
from typing import Any

from ray.autoscaler._private.aws.node_provider import AWSNodeProvider
from ray.autoscaler.node_launch_exception import NodeLaunchException
from ray.autoscaler.tags import TAG_RAY_USER_NODE_TYPE

from overtone.cluster.aws.names import new_client_token
from overtone.cluster.spot_shortage import WAIT_S, SpotShortage

logger = logging.getLogger(__name__)

SPOT_WAIT_KEY = "overtone_spot_wait_s"
"""The key of Ray's section `provider` for the seconds without spot machines; default `WAIT_S`."""

_NO_CAPACITY = {
    "InsufficientCapacity",
    "InsufficientFreeAddressesInSubnet",
    "InsufficientHostCapacity",
    "InsufficientInstanceCapacity",
    "MaxSpotInstanceCountExceeded",
    "SpotMaxPriceTooLow",
    "UnfulfillableCapacity",
    "Unsupported",
}
"""Errors that another subnet, or a machine on demand, may not have."""

_THROTTLED = {"InternalError", "RequestLimitExceeded", "ServiceUnavailable", "Throttling", "Unavailable"}
_PAUSES_S = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


class NodeProvider(AWSNodeProvider):  # type: ignore[misc]
    """Machines of a cluster on EC2."""

    def __init__(self, provider_config: dict[str, Any], cluster_name: str) -> None:
        super().__init__(provider_config, cluster_name)
        self._shortage = SpotShortage(float(provider_config.get(SPOT_WAIT_KEY, WAIT_S)))

    def create_node(self, node_config: dict[str, Any], tags: dict[str, str], count: int) -> dict[str, Any]:
        """Start machines: spot ones as asked, or on demand if there were none for ten minutes.

        Args:
            node_config: The keys of the request.
            tags: Ray's tags.
            count: Machines to start. AWS may start fewer.

        Returns:
            The machines by ID.

        Raises:
            NodeLaunchException: No machine could be started. The autoscaler asks again.
        """
        if "InstanceMarketOptions" not in node_config:
            return self._launch(node_config, tags, count)
        node_type = tags.get(TAG_RAY_USER_NODE_TYPE, "")
        try:
            machines = self._launch(node_config, tags, count)
        except NodeLaunchException as error:
            if error.category not in _NO_CAPACITY or not self._shortage.has_lasted(node_type):
                raise
            logger.warning(
                "no spot machines of node type %s for %g s: starting %d on demand",
                node_type,
                self._shortage.wait_s,
                count,
            )
            return self._launch(_on_demand(node_config), tags, count)
        self._shortage.end(node_type)
        return machines

    def _launch(self, node_config: dict[str, Any], tags: dict[str, str], count: int) -> dict[str, Any]:
        """Start machines in the first subnet that has some.

        Each subnet's request has a client token of its own. EC2 takes requests with the same token as one:
        if an answer is lost, the repeated request returns the machines that the first has started.
        """
        subnets: list[str | None] = list(node_config.get("SubnetIds") or [None])
        for subnet in subnets:
            request = {**copy.deepcopy(node_config), "ClientToken": new_client_token(self.cluster_name)}
            if subnet is not None:
                request["SubnetIds"] = [subnet]
            try:
                return self._request(request, tags, count)
            except NodeLaunchException as error:
                if error.category not in _NO_CAPACITY or subnet == subnets[-1]:
                    raise
        raise AssertionError("no subnet was tried")

    def _request(self, request: dict[str, Any], tags: dict[str, str], count: int) -> dict[str, Any]:
        from botocore.exceptions import ConnectionError, HTTPClientError

        for pause_s in (*_PAUSES_S, None):
            try:
                return dict(super().create_node(copy.deepcopy(request), dict(tags), count))
            except (NodeLaunchException, ConnectionError, HTTPClientError) as error:
                if pause_s is None or not _may_pass(error):
                    raise
                logger.info("EC2 asks for patience (%s): trying again in %g s", error, pause_s)
                time.sleep(pause_s)
        raise AssertionError("the last attempt returns or raises")


def _may_pass(error: Exception) -> bool:
    """Return whether the same request may succeed later."""
    if not isinstance(error, NodeLaunchException):
        return True  # no answer
    # A new instance profile takes seconds until EC2 knows it.
    is_profile_new = (
        error.category == "InvalidParameterValue" and "nstance profile" in error.description.lower()
    )
    return error.category in _THROTTLED or is_profile_new


def _on_demand(node_config: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a request for spot machines as those of one for machines on demand."""
    config = {key: value for key, value in node_config.items() if key != "InstanceMarketOptions"}
    config["TagSpecifications"] = [
        one for one in config.get("TagSpecifications", []) if one["ResourceType"] != "spot-instances-request"
    ]
    return config
