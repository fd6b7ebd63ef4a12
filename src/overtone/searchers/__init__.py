"""Searchers: what proposes configurations."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.searchers.auto": "AutoSearch",
    "overtone.searchers.basic": "BasicVariantGenerator RandomSearch",
    "overtone.searchers.limiter": "ConcurrencyLimiter",
    "overtone.searchers.listed": "Listed is_listing",
    "overtone.searchers.sobol": "SobolSearch",
    "overtone.searchers.repeater": "Repeater",
}

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.searchers.auto import AutoSearch as AutoSearch
    from overtone.searchers.basic import BasicVariantGenerator as BasicVariantGenerator
    from overtone.searchers.basic import RandomSearch as RandomSearch
    from overtone.searchers.limiter import ConcurrencyLimiter as ConcurrencyLimiter
    from overtone.searchers.listed import Listed as Listed
    from overtone.searchers.listed import is_listing as is_listing
    from overtone.searchers.repeater import Repeater as Repeater
    from overtone.searchers.sobol import SobolSearch as SobolSearch

__getattr__, __dir__ = attach(__name__, _NAMES)
