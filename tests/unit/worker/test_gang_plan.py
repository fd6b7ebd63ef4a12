"""The places, bundles and variables of a gang's ranks."""

from __future__ import annotations

import pytest

from overtone.core.messages import Start
from overtone.core.resources import Placement, Resources
from overtone.errors import ResourceError
from overtone.worker.gang.places import RankPlace, bundles_of_ranks, environment, places_on
from overtone.worker.gang.plan import GangPlan, rank_orders


def test_places_count_ranks_by_node() -> None:
    assert places_on(["a", "a"]) == [RankPlace(0, 2, 0, 2, 0, 1), RankPlace(1, 2, 1, 2, 0, 1)]
    assert places_on(["b", "a", "b"]) == [
        RankPlace(0, 3, 0, 2, 0, 2),
        RankPlace(1, 3, 0, 1, 1, 2),
        RankPlace(2, 3, 1, 2, 0, 2),
    ]


def test_ranks_have_the_bundles_after_the_heads_or_share_it() -> None:
    assert list(bundles_of_ranks(3, 2)) == [1, 2]
    assert list(bundles_of_ranks(5, 2)) == [1, 2]
    assert list(bundles_of_ranks(2, 2)) == [0, 1]


@pytest.mark.parametrize(("n_bundles", "num_workers"), [(1, 2), (2, 3), (3, 0), (3, -1)])
def test_too_few_bundles_are_an_error_that_names_the_number(n_bundles: int, num_workers: int) -> None:
    with pytest.raises(ResourceError, match=str(num_workers)):
        bundles_of_ranks(n_bundles, num_workers)


def test_a_rank_has_the_variables_of_torchrun() -> None:
    found = environment(RankPlace(2, 3, 1, 2, 0, 2), generation=1, run_id="t1")
    assert found["RANK"] == "2"
    assert (found["LOCAL_RANK"], found["LOCAL_WORLD_SIZE"], found["WORLD_SIZE"]) == ("1", "2", "3")
    assert (found["GROUP_RANK"], found["TORCHELASTIC_RUN_ID"], found["TORCHELASTIC_RESTART_COUNT"]) == (
        "0", "t1", "1",
    )  # fmt: skip
    assert not any(name.startswith("MASTER_") for name in found)


def test_a_rank_gets_its_own_bundle_alone() -> None:
    bundles = [{}, {"cpu": 1, "gpu": 1}, {"cpu": 2, "gpu": 0.5}]
    placement = Placement(("n",) * 3, ((), ((1, 1.0),), ((0, 0.5),)))
    start = Start("t", 1, 0, {"lr": 1}, Resources.of(bundles), placement)
    first, second = rank_orders(start, GangPlan(0, 2, "127.0.0.1:1", "secret"))
    assert dict(second.start.resources.bundles[0]) == {"cpu": 2, "gpu": 0.5}
    assert second.start.placement == Placement(("n",), (((0, 0.5),),))
    assert first.start.placement.gpus == (((1, 1.0),),)
    assert first.start.config == {"lr": 1}
    assert second.place == RankPlace(1, 2, 1, 2, 0, 1)
    assert "secret" not in repr(second)
