"""Schedulers by the names that users import; each is imported when it is first used."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.core.decision": "Add Continue Pause Restart Save Stop",
    "overtone.core.types": "Why",
    "overtone.schedulers.asha": "ASHAScheduler",
    "overtone.schedulers.fifo": "FIFOScheduler",
    "overtone.named": "create_scheduler",
    "overtone.tune.schedulers.trial_scheduler": "TrialScheduler",
    "overtone.tune.schedulers.async_hyperband": "ASHA AsyncHyperBandScheduler FIFO",
}
_MODULES = ("async_hyperband", "trial_scheduler")

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.core.decision import Add as Add
    from overtone.core.decision import Continue as Continue
    from overtone.core.decision import Pause as Pause
    from overtone.core.decision import Restart as Restart
    from overtone.core.decision import Save as Save
    from overtone.core.decision import Stop as Stop
    from overtone.core.types import Why as Why
    from overtone.named import create_scheduler as create_scheduler
    from overtone.schedulers.asha import ASHAScheduler as ASHAScheduler
    from overtone.schedulers.fifo import FIFOScheduler as FIFOScheduler
    from overtone.tune.schedulers import async_hyperband as async_hyperband
    from overtone.tune.schedulers import trial_scheduler as trial_scheduler
    from overtone.tune.schedulers.async_hyperband import ASHA as ASHA
    from overtone.tune.schedulers.async_hyperband import FIFO as FIFO
    from overtone.tune.schedulers.async_hyperband import AsyncHyperBandScheduler as AsyncHyperBandScheduler
    from overtone.tune.schedulers.trial_scheduler import TrialScheduler as TrialScheduler
else:
    __getattr__, __dir__ = attach(__name__, _NAMES, _MODULES)
