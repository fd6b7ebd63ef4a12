"""Distribution of the Job to nodes: in one form for nodes that see the driver's disk, in one for others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from overtone.as_ray.state import stated_version
from overtone.core.job import Job
from overtone.engines.ray.checkpoint_transfer import Carried, Carrier
from overtone.engines.ray.driver_place import DriverPlace
from overtone.engines.ray.node_agent import Errand, OnNodes
from overtone.store.folder_mark import mark_of
from overtone.worker.shared_objects import ObjectRef
from overtone.worker.trainables.with_parameters import as_bound


class Sharing:
    """The Job of one run, in a form for all nodes.

    Args:
        job: The Job.
        ip: IP address of the driver.
        token: Token of the run.
        on_nodes: Packs the Job.
        carries: Whether to assume that no node sees the driver's disk.

    Attributes:
        uses_ray: Whether the job or the trainable declares that the trainable uses Ray itself.

    Raises:
        TrainableError: The Job cannot be pickled.
    """

    def __init__(self, job: Job, ip: str, token: bytes, on_nodes: OnNodes, carries: bool) -> None:
        import ray

        self.uses_ray = job.uses_ray or as_bound(job.trainable).uses_ray
        self._token, self._on_nodes, self._place = token, on_nodes, DriverPlace.here()
        name = token.hex()[:12]
        self._probe = Path() if carries else job.folder / f".overtone-{name}"
        away = Path(tempfile.gettempdir(), f"overtone-nodes-{os.getuid()}", name)
        self._carrier: Carrier | None = None
        store = job.store
        files = list(_object_files(job))
        is_carried = store is not None and not store.is_remote
        if is_carried or (files and not self.uses_ray):
            self._carrier = Carrier(store, ip, token, files, mark_of(job))
        if self._carrier is not None and is_carried:
            store = Carried(self._carrier.address, token, str(away / "fetched"))
        # output for files is sent to the driver as lines
        captures = job.captures_output or job.log_to_file is not None
        apart = replace(
            job, folder=away / job.folder.name, mark=None, store=store, log_to_file=None,
            captures_output=captures,
        )  # fmt: skip
        # Trials that are actors come one by one: Ray keeps the contents on the node for the next one.
        self._objects = tuple([(path, _put_file(path) if self.uses_ray else None) for path in files])
        try:
            self._packed = (ray.put(on_nodes.pack(job)), ray.put(on_nodes.pack(apart)))
        except BaseException:
            self.close()
            raise
        self._jobs = (_without_trainable(job), _without_trainable(apart))
        if not carries:
            self._probe.touch()

    def errand(self, address: tuple[str, int], node: str) -> Errand:
        """Return the errand for a node's agent or a trial's actor."""
        probe = str(self._probe) if self._probe.name else ""
        return Errand(
            address, self._token, node, self._on_nodes, *self._jobs, self._packed, probe, self._place,
            self._objects, self._carrier.address if self._carrier is not None else None, stated_version(),
        )  # fmt: skip

    def close(self) -> None:
        """Stop serving the nodes, and delete the probe file."""
        if self._carrier is not None:
            self._carrier.close()
        if self._probe.name:
            self._probe.unlink(missing_ok=True)


def _without_trainable(job: Job) -> Job:
    return replace(job, trainable=None, parameters={}, store=None)


def _object_files(job: Job) -> Iterator[str]:
    """Yield the paths of the files of large parameters."""
    for value in {**as_bound(job.trainable).parameters, **job.parameters}.values():
        if isinstance(value, ObjectRef) and os.path.exists(value.path):
            yield value.path


def _put_file(path: str) -> Any:
    """Return a reference to the contents of a file; each node that fetches it keeps one copy."""
    import numpy as np
    import ray

    return ray.put(np.asarray(np.memmap(path, dtype=np.uint8, mode="r")))
