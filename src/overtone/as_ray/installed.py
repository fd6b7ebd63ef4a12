"""The installed Ray under the name that it has in processes with `install_as_ray`.

There the finder answers this name, and this file is not executed. It is for workers of Ray without
`install_as_ray`, when they unpickle objects of Ray's own tune, train and air from such a process.
"""

from __future__ import annotations

import importlib
import sys

from overtone.as_ray.finder import NaturalNames

sys.meta_path.insert(0, NaturalNames())
sys.modules[__name__] = importlib.import_module("ray")
