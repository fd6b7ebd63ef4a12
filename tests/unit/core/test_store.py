from __future__ import annotations

import pytest

from overtone.core.store import key_of


@pytest.mark.parametrize("uri", ["/x/exp/a_00000/checkpoint_000010", "s3://x/exp/a_00000/checkpoint_000010/"])
def test_the_last_two_names(uri: str) -> None:
    assert key_of(uri) == "a_00000/checkpoint_000010"


@pytest.mark.parametrize("uri", ["", "/", "a/b", "/x/../..", "/x/../y", "/x//y", "/x/\0/y"])
def test_what_climbs_or_is_short_is_none(uri: str) -> None:
    assert key_of(uri) is None
