"""Trials on a virtual clock: recorded or computed curves, and ordinary trainables, in a bad world or not."""

from __future__ import annotations

from overtone.engines.simulated.account import Account
from overtone.engines.simulated.engine import Simulated
from overtone.engines.simulated.trials import NODE
from overtone.engines.simulated.world import Machines, World

__all__ = ["NODE", "Account", "Machines", "Simulated", "World"]
