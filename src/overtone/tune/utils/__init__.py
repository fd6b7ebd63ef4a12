"""Kept for imports of `tune.utils`: waiting for a GPU, and checks of a trainable before a run."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.tune.utils.gpu": "wait_for_gpu",
    "overtone.tune.utils.rehearsal": "diagnose_serialization validate_save_restore",
}

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.tune.utils.gpu import wait_for_gpu as wait_for_gpu
    from overtone.tune.utils.rehearsal import diagnose_serialization as diagnose_serialization
    from overtone.tune.utils.rehearsal import validate_save_restore as validate_save_restore
else:
    __getattr__, __dir__ = attach(__name__, _NAMES)
