"""The checkpoint that the trials of an experiment begin with, found again by a resume."""

from types import SimpleNamespace

import pytest

from overtone.core.types import Checkpoint
from overtone.run.storage.initial_checkpoint import kept_initial

OTHERS = ["restored/a", "restored/checkpoint_best", "restored/checkpoint_000003/part"]


def place(*keys: str) -> SimpleNamespace:
    store = SimpleNamespace(list=lambda prefix: [key for key in keys if key.startswith(prefix)])
    return SimpleNamespace(store=lambda mark: store, mark=None, url=None, folder="/exp")


@pytest.mark.parametrize("name", ["checkpoint_000003", "checkpoint_000003_f2"])
def test_it_is_found_beside_folders_that_are_none(name: str) -> None:
    found = kept_initial(place(*OTHERS, f"restored/{name}"))
    assert found == Checkpoint("", 3, f"/exp/restored/{name}")


def test_without_one_there_is_none() -> None:
    assert kept_initial(place(*OTHERS)) is None
