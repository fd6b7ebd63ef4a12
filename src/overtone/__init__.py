"""Overtone: distributed model selection and training.

Start with `from overtone import tune`. `import overtone as ray` serves scripts that
were written for a cluster: init, put, get, shutdown and the like, on one machine.
"""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.machine": "available_resources cluster_resources get_gpu_ids init is_initialized nodes shutdown"
    " wait",
    "overtone.version": "__version__",
    "overtone.worker.shared_objects": "get put",
}
_MODULES = ("air", "train", "tune")

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone import air as air
    from overtone import train as train
    from overtone import tune as tune
    from overtone.machine import available_resources as available_resources
    from overtone.machine import cluster_resources as cluster_resources
    from overtone.machine import get_gpu_ids as get_gpu_ids
    from overtone.machine import init as init
    from overtone.machine import is_initialized as is_initialized
    from overtone.machine import nodes as nodes
    from overtone.machine import shutdown as shutdown
    from overtone.machine import wait as wait
    from overtone.version import __version__ as __version__
    from overtone.worker.shared_objects import get as get
    from overtone.worker.shared_objects import put as put
else:
    _attached, __dir__ = attach(__name__, _NAMES, _MODULES)

    def __getattr__(name):
        if name in ("cloudpickle", "data", "exceptions", "kill", "method", "remote", "serve", "util"):
            raise AttributeError(
                f"overtone has no {name!r}: it takes the place of ray.tune and ray.train. What is Ray's own "
                f"stays Ray's: import ray beside it, and write ray.{name}"
            )
        return _attached(name)
