"""The installed Lightning, by whichever of its two names the user's code imports it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from overtone.errors import MissingPackageError


def _installed() -> Any:
    names = ["lightning.pytorch", "pytorch_lightning"]
    if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
        names.reverse()  # their classes are not the same
    for name in names:
        try:
            return import_module(name)
        except ImportError:
            pass
    raise MissingPackageError("lightning", "", "overtone.train.lightning")


pl = _installed()
environments = import_module(f"{pl.__name__}.plugins.environments")
strategies = import_module(f"{pl.__name__}.strategies")
