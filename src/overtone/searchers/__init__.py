"""Searchers: what proposes configurations."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.searchers.basic": "BasicVariantGenerator RandomSearch",
    "overtone.searchers.listed": "Listed is_listing",
}

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.searchers.basic import BasicVariantGenerator as BasicVariantGenerator
    from overtone.searchers.basic import RandomSearch as RandomSearch
    from overtone.searchers.listed import Listed as Listed
    from overtone.searchers.listed import is_listing as is_listing

__getattr__, __dir__ = attach(__name__, _NAMES)
