"""CPUs and GPUs of GCP's machine types, by name. Ray needs both in its YAML."""

from __future__ import annotations

import re

_SHARED_CORE = {"e2-micro": 2, "e2-small": 2, "e2-medium": 2, "f1-micro": 1, "g1-small": 1}
_G2_GPUS = {24: 2, 48: 4, 96: 8}  # others have one
_A2_A3 = re.compile(r"a[234]-(?:high|mega|ultra|edge)gpu-(\d+)g(?:-\w+)?")
_CPUS_OF_GPUS = {"a2-highgpu": 12, "a2-ultragpu": 12, "a3-highgpu": 26, "a3-megagpu": 26, "a3-ultragpu": 28}
_CPUS_OF_GPUS.update({"a3-edgegpu": 26, "a4-highgpu": 28})
_NUMBERED = re.compile(r"[a-z]\w*-[a-z]+-(\d+)(?:-[a-z]\w*)?")
_CUSTOM = re.compile(r"(?:[a-z]\w*-)?custom-(\d+)-\d+(?:-ext)?")


def has_gpu(machine_type: str) -> bool:
    """Return whether all machines of the type have GPUs."""
    return re.match(r"(a[234]|g\d)-", machine_type) is not None


def resources_of(machine_type: str) -> dict[str, int]:
    """Return Ray's resources of a machine type, such as {"CPU": 4, "GPU": 1} for "g2-standard-4".

    Empty if the name does not tell.
    """
    if machine_type in _SHARED_CORE:
        return {"CPU": _SHARED_CORE[machine_type]}
    if match := _A2_A3.fullmatch(machine_type):
        n_gpus = int(match[1])
        if machine_type == "a2-megagpu-16g":
            return {"CPU": 96, "GPU": 16}
        per_gpu = _CPUS_OF_GPUS.get("-".join(machine_type.split("-")[:2]))
        return {"CPU": per_gpu * n_gpus, "GPU": n_gpus} if per_gpu else {}
    match = _CUSTOM.fullmatch(machine_type) or _NUMBERED.fullmatch(machine_type)
    if not match:
        return {}
    n_cpus = int(match[1])
    if machine_type.startswith("g2-"):
        return {"CPU": n_cpus, "GPU": _G2_GPUS.get(n_cpus, 1)}
    return {} if has_gpu(machine_type) else {"CPU": n_cpus}
