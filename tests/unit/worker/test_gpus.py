from __future__ import annotations

import pytest

from overtone.core.resources import Placement
from overtone.errors import ResourceError
from overtone.worker import gpus


@pytest.mark.parametrize(
    ("variable", "count", "ids"),
    [
        (None, 2, ("0", "1")),
        (None, 0, ()),
        ("", 2, ()),
        ("1", 2, ("1",)),
        ("1,0", 2, ("1", "0")),
        (" 3 , 2", 4, ("3", "2")),
        ("0,5,1", 2, ("0",)),  # CUDA ends the list at what does not exist
        ("-1", 2, ()),
        ("0,0,1", 2, ("0",)),
        ("GPU-1a2b,MIG-77", 2, ("GPU-1a2b", "MIG-77")),
        ("0,1", 0, ()),  # nothing can count them
    ],
)
def test_visible_ids(variable: str | None, count: int, ids: tuple[str, ...]) -> None:
    assert gpus.visible_ids(variable, count) == ids


@pytest.mark.parametrize(
    ("count", "environment", "ids"),
    [
        (3, {}, ("0", "1", "2")),
        (0, {"CUDA_VISIBLE_DEVICES": ""}, ()),
        (2, {"CUDA_VISIBLE_DEVICES": "4,6,7"}, ("4", "6")),
    ],
)
def test_declared_ids(count: int, environment: dict[str, str], ids: tuple[str, ...]) -> None:
    assert gpus.declared_ids(count, environment) == ids


def test_more_declared_than_visible_is_an_error() -> None:
    with pytest.raises(ResourceError, match=r"gpus=2, but CUDA_VISIBLE_DEVICES='7' shows 1"):
        gpus.declared_ids(2, {"CUDA_VISIBLE_DEVICES": "7"})


@pytest.mark.parametrize(
    ("placed", "visible"),
    [
        (((),), ""),
        ((((1, 0.5),),), "5"),
        ((((2, 1.0), (0, 1.0)),), "7,4"),
        (((), ((0, 1.0),), ((0, 0.5), (1, 1.0))), "4,5"),  # an empty head; two bundles share one
    ],
)
def test_visible_to(placed: tuple[tuple[tuple[int, float], ...], ...], visible: str) -> None:
    placement = Placement(("local",) * len(placed), placed)
    assert gpus.visible_to(placement, ("4", "5", "7")) == visible
