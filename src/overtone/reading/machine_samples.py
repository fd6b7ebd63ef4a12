"""The samples of a run's machines as arrays: CPU, memory, disk and GPUs, by node and time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.regular_files import read_regular
from overtone.worker.machines.ring import ENDING, FOLDER, node_of, records
from overtone.worker.machines.sample import N_NUMBERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class MachineSamples:
    """The samples of one node, by time: every 5 s while a driver ran, of the last 24 hours at most.

    NaN stands for what is not known.

    Attributes:
        time: Shape (n,): seconds since 1970.
        cpu: Shape (n,): the part of all CPUs that worked since the sample before, from 0 to 1.
        n_cpus: Shape (n,): the number of CPUs.
        memory_used, memory_total: Shape (n,): bytes.
        disk_used, disk_total: Shape (n,): bytes, of the file system with the experiment's folder.
        gpu_use: Shape (n, gpus): the part of the time in which each GPU computed, from 0 to 1.
        gpu_memory_used, gpu_memory_total: Shape (n, gpus): bytes.
    """

    time: NDArray[np.float64]
    cpu: NDArray[np.float64]
    n_cpus: NDArray[np.float64]
    memory_used: NDArray[np.float64]
    memory_total: NDArray[np.float64]
    disk_used: NDArray[np.float64]
    disk_total: NDArray[np.float64]
    gpu_use: NDArray[np.float64]
    gpu_memory_used: NDArray[np.float64]
    gpu_memory_total: NDArray[np.float64]


def machine_samples(folder: str | os.PathLike[str]) -> Mapping[str, MachineSamples]:
    """Return the samples of each node of an experiment, by its name.

    A simulated experiment has none, and neither has a run of less than 5 s. Files that are not readable
    are left out.

    Args:
        folder: The experiment's folder.
    """
    import numpy as np

    found = {}
    place = Path(folder) / FOLDER
    try:
        names = sorted([name for name in os.listdir(place) if name.endswith(ENDING)])
    except OSError:
        return {}
    for name in names:
        try:
            n_gpus, rows = records(read_regular(place / name, follow_links=False))
        except (OSError, ValueError):
            continue
        numbers = np.frombuffer(b"".join(body for _, body in rows), "<f8")
        table = numbers.reshape(len(rows), N_NUMBERS + 3 * n_gpus)
        own, gpus = table[:, :N_NUMBERS], table[:, N_NUMBERS:].reshape(len(rows), n_gpus, 3)
        found[node_of(name)] = MachineSamples(*own.T, *(gpus[:, :, i] for i in range(3)))
    return found
