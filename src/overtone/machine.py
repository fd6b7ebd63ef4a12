"""The cluster functions of Ray on this machine: init, shutdown, resources."""

from __future__ import annotations

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_declared: dict[str, float] | None = None
_local_mode = False


class Context(dict):  # type: ignore[type-arg]
    """The result of `init`: the address of this machine; leaving it as a context shuts down."""

    dashboard_url = ""

    @property
    def address_info(self) -> dict[str, Any]:
        """The same facts as a mapping."""
        return dict(self)

    def disconnect(self) -> None:
        """Reset the arguments of `init`."""
        shutdown()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *exc_info: object) -> None:
        shutdown()


def init(
    address: str | None = None,
    *,
    num_cpus: float | None = None,
    num_gpus: float | None = None,
    resources: Mapping[str, float] | None = None,
    local_mode: bool = False,
    **ignored: Any,
) -> Context:
    """Declare the resources for experiments of this process; all of this machine's by default.

    Args:
        address: Accepted: there is one machine, whatever its address.
        num_cpus, num_gpus: Number of CPUs and GPUs; detected by default.
        resources: Further amounts by name, such as {"license": 2}.
        local_mode: Run trials in this process, one at a time (engine "inline").
        ignored: Options of a cluster's head that mean nothing on one machine.
    """
    global _declared, _local_mode
    amounts = {"cpu": num_cpus, "gpu": num_gpus, **(resources or {})}
    _declared = {name: float(amount) for name, amount in amounts.items() if amount is not None}
    _local_mode = local_mode
    return Context(node_ip_address="127.0.0.1", address=address or "local", webui_url="")


def is_initialized() -> bool:
    """Return whether `init` was called."""
    return _declared is not None


def shutdown(*_: Any, **__: Any) -> None:
    """Reset the arguments of `init`; running experiments continue."""
    global _declared, _local_mode
    _declared, _local_mode = None, False


def declared() -> dict[str, float]:
    """Return the amounts given to `init`, by resource ("cpu", "gpu", ...); empty by default."""
    return dict(_declared or {})


def is_local_mode() -> bool:
    """Return whether trials should run in this process."""
    return _local_mode


def cluster_resources() -> dict[str, float]:
    """Return the resources of this machine, by Ray's names; memory in bytes."""
    import os

    import psutil

    from overtone.worker.gpus import detect

    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = psutil.virtual_memory().total
    amounts = {"CPU": float(cpus), "GPU": float(len(detect())), "memory": float(memory)}
    shown = {"cpu": "CPU", "gpu": "GPU"}
    amounts |= {shown.get(name, name): amount for name, amount in declared().items()}
    return {name: amount for name, amount in amounts.items() if amount}


def available_resources() -> dict[str, float]:
    """Return the same as `cluster_resources`: each experiment may use the whole machine."""
    return cluster_resources()


def get_gpu_ids() -> list[int | str]:
    """Return the GPUs of the trial that runs in this process, or outside of trials those of this machine.

    GPUs that CUDA_VISIBLE_DEVICES names by UUID, and MIG instances, are strings; the others are integers.
    """
    import os

    from overtone.worker.gpus import detect

    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is None:
        return list(range(len(detect())))
    ids = [text.strip() for text in given.split(",")]
    return [int(id) if id.isdecimal() else id for id in ids if id and id != "-1"]


def nodes() -> list[dict[str, Any]]:
    """Return one entry, for this machine."""
    from socket import gethostname

    return [
        {
            "NodeID": "local",
            "Alive": True,
            "NodeManagerAddress": "127.0.0.1",
            "NodeManagerHostname": gethostname(),
            "Resources": cluster_resources(),
        }
    ]


def wait(
    object_refs: Sequence[Any], *, num_returns: int = 1, timeout: float | None = None, **_: Any
) -> tuple[list[Any], list[Any]]:
    """Return (ready, not ready): objects `put` on this machine are ready at once."""
    refs = list(object_refs)
    return refs[:num_returns], refs[num_returns:]
