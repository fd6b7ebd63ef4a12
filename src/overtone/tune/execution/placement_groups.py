"""A trial's resources in several bundles, written as a placement group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overtone.core.resources import Resources


class PlacementGroupFactory(Resources):
    """Resources in bundles: `PlacementGroupFactory([{"CPU": 1}, {"CPU": 2, "GPU": 1}], strategy="PACK")`.

    The first bundle is for the trial's own process (it may be empty). The other bundles are
    for processes that the trial starts.
    """

    __slots__ = ()

    def __init__(
        self, bundles: Sequence[Mapping[str, Any]], strategy: str = "PACK", *_: Any, **__: Any
    ) -> None:
        made = Resources.of(list(bundles), strategy)
        super().__init__(made.bundles, made.strategy)
