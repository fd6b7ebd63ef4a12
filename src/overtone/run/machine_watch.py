"""Samples the machines of a run into files beside its journal."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.store.folder_mark import FolderMark
from overtone.worker.machines import EVERY_S

if TYPE_CHECKING:
    from overtone.worker.machines.ring import Ring
    from overtone.worker.machines.sample import MachineSample


class MachineWatch:
    """A thread that samples this machine every `EVERY_S`, and takes the samples of other nodes.

    The first sample is taken after `EVERY_S`: short runs cost nothing, and leave no file.

    Args:
        mark: Of the experiment's folder.
        node: This machine's name.
    """

    def __init__(self, mark: FolderMark, node: str) -> None:
        self._mark, self._node = mark, node
        self._rings: dict[str, Ring] = {}
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="overtone-machines", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, node: str, sample: MachineSample) -> None:
        """Take a sample of a node; each node's come from one thread."""
        ring = self._rings.get(node)
        if ring is None:
            from overtone.worker.machines.ring import Ring

            ring = self._rings[node] = Ring(self._mark, node)
        ring.put(sample)

    def close(self) -> None:
        """End; a disk that does not answer is not waited for."""
        self._is_closing.set()
        self._thread.join(1.0)
        if not self._thread.is_alive():
            for ring in self._rings.values():
                ring.close()

    def _run(self) -> None:
        sampler = None
        while not self._is_closing.wait(EVERY_S):
            if sampler is None:
                from overtone.worker.machines.sample import MachineSampler

                sampler = MachineSampler(Path(self._mark.folder))
            try:
                self.put(self._node, sampler.sample())
            except Exception:  # such as a library that fails on this system: there are no samples then
                return
