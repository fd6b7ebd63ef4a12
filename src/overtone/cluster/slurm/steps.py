"""The nodes of a job and the steps on its first node, as seen from there."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping

_OURS = b"SLURM_JOB_NAME=overtone-ray"


def nodes_of(variables: Mapping[str, str]) -> dict[str, int]:
    """Return the names of a job's nodes and their CPUs, the first one first."""
    listed = subprocess.run(
        ["scontrol", "show", "hostnames", variables["SLURM_JOB_NODELIST"]],
        stdout=subprocess.PIPE, check=True, text=True,
    ).stdout.split()  # fmt: skip
    return dict(zip(listed, expanded(variables["SLURM_JOB_CPUS_PER_NODE"]), strict=False))


def kill_wait_s() -> float:
    """Return how long after its SIGTERM Slurm kills a job: KillWait, 30 s if Slurm does not answer."""
    shown = subprocess.run(
        ["scontrol", "show", "config"], stdout=subprocess.PIPE, text=True, check=False
    ).stdout
    match = re.search(r"^KillWait\s*=\s*(\d+)", shown, re.MULTILINE)
    return float(match[1]) if match else 30.0


def expanded(counts: str) -> Iterator[int]:
    """Yield the CPUs of each node, of what Slurm writes as "4(x2),8"."""
    for part in counts.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            raise ValueError(f"SLURM_JOB_CPUS_PER_NODE={counts!r} cannot be read")
        for _ in range(int(match[2] or 1)):
            yield int(match[1])


def foreign_steps(job: str) -> set[str]:
    """Return the steps of this job on this node that are not Ray's, such as a shell that a person opened."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                variables = file.read().split(b"\0")
        except OSError:
            continue  # Another user's, or it ended meanwhile.
        if f"SLURM_JOB_ID={job}".encode() in variables and _OURS not in variables:
            found |= {one for one in variables if one.startswith(b"SLURM_STEP_ID=")}
    return {one.partition(b"=")[2].decode() for one in found}
