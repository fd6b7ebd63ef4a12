"""Overtone: distributed model selection and training.

Start with `from overtone import tune`. `import overtone as ray` serves scripts that
were written for a cluster: init, put, get, shutdown and the like, on one machine.
"""

import sys

from overtone.lazy import ElsewhereFinder, attach
from overtone.uncaught import install as _install

_install()  # now: the imports that follow may be interrupted
_attached, __dir__ = attach(__name__)

if ElsewhereFinder not in sys.meta_path:
    sys.meta_path.append(ElsewhereFinder)


def __getattr__(name):
    if name in ("kill", "method", "remote"):
        raise AttributeError(
            f"overtone has no {name!r}: it takes the place of ray.tune and ray.train. What is Ray's own "
            f"stays Ray's: import ray beside it, and write ray.{name}"
        )
    return _attached(name)


if "overtone.as_ray" in sys._xoptions:  # a process of a driver that called `install_as_ray`
    from overtone.as_ray import install_as_ray

    install_as_ray(sys._xoptions["overtone.as_ray"])
