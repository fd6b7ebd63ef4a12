"""The choice of what makes the processes of ranks."""

from __future__ import annotations

from overtone.core.resources import Resources
from overtone.engines.default import is_local
from overtone.errors import ResourceError
from overtone.machine import declared
from overtone.worker.gang.host import RankHost
from overtone.worker.gang.places import bundles_of_ranks
from overtone.worker.gang.trial_host import TrialHost
from overtone.worker.session.current import current, is_inside


def host_for(resources: Resources) -> RankHost:
    """Return what makes the ranks of a gang whose head is this process.

    Inside a trial they run in the trial's own bundles; outside on the cluster if `ray.init()` was called
    or RAY_ADDRESS is set, else on this machine.

    Args:
        resources: The bundles of the head and of each rank.

    Raises:
        ResourceError: The trial's bundles are too few or too small, or there is no room for all ranks.
    """
    if is_inside():
        check_bundles(current().get_trial_resources().resources(), resources)
        return TrialHost(current())
    if not is_local(None):
        from overtone.engines.ray.cluster_connection import connect
        from overtone.engines.ray.ray_host import RayHost

        connect()
        return RayHost(resources)
    from overtone.engines.local.local_host import LocalHost

    amounts = declared()
    gpus = amounts.get("gpu")
    return LocalHost(resources, amounts.get("cpu"), None if gpus is None else int(gpus))


def check_bundles(reserved: Resources, wanted: Resources) -> None:
    """Check that the bundles of a trial hold the ranks of a gang.

    Raises:
        ResourceError: They are too few or too small; the message says how to reserve them.
    """
    n = len(wanted.bundles) - 1
    indexes = bundles_of_ranks(len(reserved.bundles), n)
    for rank, index in enumerate(indexes):
        has = dict(reserved.bundles[index])
        for name, amount in wanted.bundles[rank + 1]:
            if has.get(name, 0.0) < amount:
                raise ResourceError(
                    f"rank {rank} needs {name} {amount:g}, and its bundle has {has.get(name, 0.0):g}: "
                    f"reserve what the trainer needs, by tune.with_resources(driver, "
                    f"ScalingConfig(num_workers={n}, ...).as_placement_group_factory())"
                )
