"""Stands in for Aim: `CALLS` has what it is told."""

from __future__ import annotations

import sys
from types import ModuleType

CALLS = []


class Repo:
    pass


class Run:
    def __init__(self, **kwargs):
        CALLS.append(("Run", kwargs))

    def __setitem__(self, key, value):
        CALLS.append((key, value))

    def track(self, **kwargs):
        CALLS.append(("track", kwargs))

    def close(self):
        CALLS.append(("close",))


sys.modules["aim.sdk"] = sdk = ModuleType("aim.sdk")
sdk.Repo, sdk.Run = Repo, Run
