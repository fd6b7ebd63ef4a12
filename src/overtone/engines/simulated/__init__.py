"""The engine on a virtual clock: runs curves and ordinary trainables, with failures if wanted."""

from __future__ import annotations

from overtone.core.account import Account
from overtone.engines.simulated.engine import Simulated
from overtone.engines.simulated.trials import NODE
from overtone.engines.simulated.world import Machines, World

__all__ = ["NODE", "Account", "Machines", "Simulated", "World"]
