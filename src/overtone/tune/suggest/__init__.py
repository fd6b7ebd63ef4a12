"""The old name of `tune.search`."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.core.protocols": "Searcher",
    "overtone.searchers": "BasicVariantGenerator",
    "overtone.named": "create_searcher",
}
_MODULES = ("basic_variant",)

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.core.protocols import Searcher as Searcher
    from overtone.named import create_searcher as create_searcher
    from overtone.searchers import BasicVariantGenerator as BasicVariantGenerator
    from overtone.tune.suggest import basic_variant as basic_variant
else:
    __getattr__, __dir__ = attach(__name__, _NAMES, _MODULES)
