"""The use of CPUs, memory and GPUs over time, sampled in a thread."""

from __future__ import annotations

from collections import defaultdict
from threading import Event, Lock, Thread
from typing import Any

import psutil


class UtilMonitor(Thread):
    """Samples the use of this machine; GPUs are sampled if GPUtil is installed.

    Args:
        start: Whether to start at once.
        delay: Seconds between two samples.
    """

    def __init__(self, start: bool = True, delay: float = 0.7) -> None:
        super().__init__(daemon=True)
        self.delay = delay
        self._samples: dict[str, list[float]] = defaultdict(list)
        self._lock, self._ended = Lock(), Event()
        if start:
            self.start()

    def run(self) -> None:
        """Sample until `stop` is called."""
        while not self._ended.is_set():
            self._sample()
            self._ended.wait(self.delay)

    def get_data(self) -> dict[str, Any]:
        """Return the means since the last call: {"perf": {"cpu_util_percent": ...}}; {} if stopped."""
        with self._lock:
            samples, self._samples = self._samples, defaultdict(list)
        if not self.is_alive() or self._ended.is_set():
            return {}
        return {"perf": {name: sum(values) / len(values) for name, values in samples.items()}}

    def stop(self) -> None:
        """End the sampling."""
        self._ended.set()

    def _sample(self) -> None:
        found = {
            "cpu_util_percent": psutil.cpu_percent(),
            "ram_util_percent": psutil.virtual_memory().percent,
        }
        try:
            import GPUtil  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            gpus: list[Any] = []
        else:
            gpus = GPUtil.getGPUs()
        for gpu in gpus:
            found[f"gpu_util_percent{gpu.id}"] = float(gpu.load)
            found[f"vram_util_percent{gpu.id}"] = float(gpu.memoryUtil)
        with self._lock:
            for name, value in found.items():
                self._samples[name].append(value)
