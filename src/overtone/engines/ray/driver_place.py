"""Where a driver works and finds modules, for the processes of its run on other nodes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from overtone.engines.ray.environment import brings_folder, brings_modules


@dataclass(frozen=True, slots=True)
class DriverPlace:
    """Where a driver works, and where it finds modules.

    Attributes:
        cwd: Its working directory.
        path: Its `sys.path`.
        prefix: Its `sys.prefix`.
    """

    cwd: str
    path: tuple[str, ...]
    prefix: str

    @classmethod
    def here(cls) -> DriverPlace:
        """Return the place of this process; "/" for a working directory that does not exist any more."""
        try:
            cwd = os.getcwd()
        except OSError:
            cwd = "/"
        return cls(cwd, tuple([os.path.join(cwd, one) for one in sys.path]), sys.prefix)

    def take_over(self, environment: Mapping[str, Any]) -> None:
        """Make this the place of this process, except for what its own environment brings."""
        if not brings_folder(environment):
            with suppress(OSError):  # it then works where Ray has put its workers
                os.chdir(self.cwd)
        given = [one for one in self.path if one not in sys.path]
        others = [one for one in sys.path if one not in self.path]
        # the driver's packages come last if the environment brings others
        is_same = self.prefix == sys.prefix and not brings_modules(environment)
        sys.path[:] = [*self.path, *others] if is_same else [*sys.path, *given]
