"""GPU memory: what trials reserve, by amount and by estimate, and what follows if it is too little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from overtone.core import memory_estimate
from overtone.core import messages as m
from overtone.core.ledger import Ledger, check_feasible
from overtone.core.recorded_choices import actions
from overtone.core.resources import Resources
from overtone.core.trial import Status, Template
from overtone.errors import ResourceError
from overtone.testing.manual_controller import ByHand

GB = 10**9


def demand(memory: Any, **others: Any) -> Resources:
    return Resources.of({"gpu_memory": memory, **others})


def machine(*sizes: float, taken: Mapping[int, float] | None = None, cpu: float = 64.0) -> dict[str, float]:
    """The amounts of a machine with GPUs of these sizes in GB."""
    return {
        "cpu": cpu,
        "gpu": float(len(sizes)),
        "gpu_memory": sum(sizes) * GB,
        **{f"gpu_memory:{index}": size * GB for index, size in enumerate(sizes)},
        **{f"gpu_memory_taken:{index}": size * GB for index, size in (taken or {}).items()},
    }


def by_hand(
    written: Any, *sizes: float, configs: list[dict[str, Any]], limits: Any = None, **others: Any
) -> ByHand:
    """A controller whose trials ask for GPU memory, with these configs suggested."""
    of = written if callable(written) else lambda _: demand(written, **others)
    hand = ByHand(cpus=None, template=Template(of), limits={"lookahead": len(configs), **(limits or {})})
    hand.capacity({"node": machine(*sizes)})
    for config in configs:
        hand.suggest(config)
    return hand


def end(hand: ByHand, trial: str, cause: m.Cause = "returned", peak: float = 0.0) -> list[m.Command]:
    return hand.tell(m.Ended(hand.time, trial, hand.trial(trial).attempt, cause, "", gpu_memory=peak * GB))


def trials(hand: ByHand) -> list[str]:
    return list(hand.controller.trials)


def placed(hand: ByHand) -> list[str]:
    return [name for name in trials(hand) if hand.status(name).is_placed]


def starts(commands: list[m.Command]) -> list[m.Start]:
    return [one for one in commands if isinstance(one, m.Start)]


def notes(hand: ByHand) -> list[str]:
    return [one.text for one in hand.choices if isinstance(one, m.Noted)]


# --- demands ---------------------------------------------------------------------------------


def test_memory_without_a_fraction_is_a_quarter_of_a_gpu() -> None:
    assert demand("6GB").bundles == ((("gpu", 0.25), ("gpu_memory", 6e9)),)
    assert demand("6GB", gpu=0.1).bundles == ((("gpu", 0.1), ("gpu_memory", 6e9)),)


def test_auto_is_a_whole_gpu_until_there_is_an_estimate() -> None:
    assert demand("auto").bundles == ((("gpu", 1.0),),)
    assert demand("auto").auto == ("", 0.25)
    assert demand("auto:batch_size", gpu=0.5).auto == ("batch_size", 0.5)
    assert demand("auto") == demand("auto")
    assert hash(demand("auto")) == hash(demand("auto"))
    assert demand("auto") != demand("auto:batch_size") != Resources.of({"gpu": 1})


def test_auto_is_for_one_bundle() -> None:
    with pytest.raises(ResourceError, match="trials of one bundle"):
        Resources.of([{"cpu": 1}, {"gpu_memory": "auto"}])


def test_what_no_gpu_has_is_refused() -> None:
    with pytest.raises(ResourceError, match=r"the largest GPU has 7\.45 GiB"):
        check_feasible(demand("10GB"), {"node": machine(8, 8)})
    with pytest.raises(ResourceError, match="pip install nvidia-ml-py"):
        check_feasible(demand("1GB"), {"node": {"gpu": 1.0}})
    check_feasible(demand("6GB"), {"node": machine(8, taken={0: 7})})  # it may become free again


# --- the ledger ------------------------------------------------------------------------------


def test_memory_is_counted_by_device() -> None:
    ledger = Ledger({"node": machine(8, 8)})
    found = [ledger.place(str(n), demand("5GB")) for n in range(3)]
    assert [one and one.gpus for one in found] == [(((0, 0.25),),), (((1, 0.25),),), None]
    ledger.release("0")
    assert ledger.fits(demand("5GB"))


def test_at_most_four_share_a_gpu_by_default() -> None:
    ledger = Ledger({"node": machine(80)})
    assert sum(ledger.place(str(n), demand("1GB")) is not None for n in range(6)) == 4
    ledger = Ledger({"node": machine(80)})
    assert sum(ledger.place(str(n), demand("1GB", gpu=0.1)) is not None for n in range(12)) == 10


def test_the_fullest_gpu_with_room_is_taken() -> None:
    ledger = Ledger({"node": machine(16, 8)})
    found = ledger.place("a", demand("6GB"))
    assert found is not None
    assert found.gpus == (((1, 0.25),),)


def test_whole_gpus_each_have_the_memory() -> None:
    ledger = Ledger({"node": machine(8, 24, 24)})
    found = ledger.place("a", demand("10GB", gpu=2))
    assert found is not None
    assert found.gpus == (((1, 1.0), (2, 1.0)),)
    assert ledger.free()["gpu_memory"] == 36e9
    ledger.release("a")
    assert ledger.free()["gpu_memory"] == 56e9


def test_what_others_hold_is_not_free() -> None:
    ledger = Ledger({"node": machine(8, taken={0: 5})})
    assert not ledger.fits(demand("4GB"))
    assert ledger.is_feasible(demand("4GB"))
    assert ledger.place("a", demand("3GB")) is not None
    ledger.set_capacity({"node": machine(8, taken={0: 0})})
    assert ledger.fits(demand("5GB"))
    assert not ledger.fits(demand("6GB"))


def test_a_reservation_keeps_memory() -> None:
    ledger = Ledger({"node": machine(8, 8)})
    ledger.place("a", demand("3GB"))
    ledger.place("b", demand("6GB"))
    ledger.reserve("large", demand("6GB"))
    assert not ledger.fits(demand("3GB"))
    assert ledger.fits(demand("2GB"))  # beside the second
    ledger.release("a")
    assert ledger.place("large", demand("6GB")) is not None
    assert ledger.reserved_for is None


# --- estimates -------------------------------------------------------------------------------


def test_the_first_trial_is_alone_and_its_peak_is_the_estimate() -> None:
    hand = by_hand("auto", 8.0, configs=[{}] * 6)
    first, *others = trials(hand)
    assert placed(hand) == [first]
    hand.started(first)
    hand.report(first, 1)
    end(hand, first, peak=1.5)
    assert placed(hand) == others[:4]
    assert hand.trial(others[0]).resources.bundles == ((("gpu", 0.25), ("gpu_memory", 1.725e9)),)
    assert "used up to 1.40 GiB" in notes(hand)[0]
    assert [one.trial_id for one in hand.choices if isinstance(one, m.Moved) and one.resources] == others


def test_new_trials_begin_with_the_estimate() -> None:
    hand = by_hand("auto", 8.0, configs=[{}])
    hand.report(trials(hand)[0], 1)
    end(hand, trials(hand)[0], peak=2)
    hand.suggest({})
    assert hand.trial(trials(hand)[1]).resources.gpu_memory == 2.3e9


def test_trials_are_estimated_by_a_key_of_the_config() -> None:
    configs = [{"model": {"size": size}} for size in (1, 2, 1, 2)]
    hand = by_hand("auto:model/size", 8.0, configs=configs)
    small, large, *_ = trials(hand)
    hand.report(small, 1)
    end(hand, small, peak=1)
    sizes = [hand.trial(name).resources.gpu_memory for name in trials(hand)]
    assert sizes == [0, 0, 1.15e9, 0]
    assert placed(hand) == [large]  # alone: nothing like it has ended
    assert "with model/size=1 now reserve" in notes(hand)[0]


def test_an_end_without_a_result_is_no_estimate() -> None:
    hand = by_hand("auto", 8.0, configs=[{}] * 3)
    end(hand, trials(hand)[0], "raised", peak=0.3)
    assert placed(hand) == [trials(hand)[1]]


def test_the_estimate_follows_the_peaks() -> None:
    hand = by_hand("auto", 8.0, configs=[{}] * 16)
    names, reserved, said = trials(hand), [], []
    for name, peak in zip(names, (2, 1, 3, 3, 3), strict=False):
        hand.report(name, 1)
        end(hand, name, peak=peak)
        reserved.append(round(hand.trial(names[-1]).resources.gpu_memory / GB, 3))
        said += notes(hand)
    assert reserved == [2.3, 2.3, 2.3, 3.18, 3.18]  # the third may be an exception
    assert [one.split()[-2] for one in said] == ["2.14", "2.96"]


def test_a_trial_that_needs_nearly_all_has_a_gpu_of_its_own() -> None:
    hand = by_hand("auto", 8.0, configs=[{}] * 3)
    first, second, _ = trials(hand)
    hand.report(first, 1)
    end(hand, first, peak=7)
    assert hand.trial(second).resources.bundles == ((("gpu", 1.0), ("gpu_memory", 7.2e9)),)
    assert placed(hand) == [second]


def test_memory_that_cannot_be_measured_is_told_once() -> None:
    hand = by_hand("auto", 8.0, configs=[{}] * 3)
    for count in (1, 0):
        first = placed(hand)[0]
        hand.report(first, 1)
        end(hand, first)
        assert len([one for one in notes(hand) if "could not be measured" in one]) == count


def test_a_resized_trial_can_be_withdrawn() -> None:
    hand = by_hand("auto", 8.0, configs=[{}] * 6, limits={"total": 6})
    hand.report(trials(hand)[0], 1)
    end(hand, trials(hand)[0], peak=6)
    assert hand.trial(trials(hand)[-1]).is_untouched


# --- out of memory ---------------------------------------------------------------------------


def test_out_of_memory_is_no_failure() -> None:
    hand = by_hand("2GB", 8.0, configs=[{}] * 2)
    first, second = trials(hand)
    hand.report(first, 1, saves=True)
    (start,) = starts(end(hand, first, "out_of_memory"))
    assert start.resources == demand("3GB")
    assert start.checkpoint is not None
    assert start.checkpoint.t == 1
    assert hand.trial(first).failures == 0
    moved = next(one for one in hand.choices if isinstance(one, m.Moved))
    assert moved.why is not None
    assert moved.why.rule == "out_of_memory"
    assert moved.why.note == "ran out of GPU memory with 1.86 GiB; next, 2.79 GiB"
    assert hand.status(second).is_placed


def test_the_second_time_it_is_alone_and_the_third_it_has_failed() -> None:
    hand = by_hand("2GB", 8.0, configs=[{}] * 2)
    first, second = trials(hand)
    end(hand, first, "out_of_memory")
    assert not starts(end(hand, first, "out_of_memory"))  # the other trial uses the GPU
    assert hand.trial(first).resources.bundles == ((("gpu", 1.0), ("gpu_memory", 4.5e9)),)
    (start,) = starts(end(hand, second))
    assert start.trial_id == first
    end(hand, first, "out_of_memory")
    assert hand.status(first) is Status.ERROR


def test_a_storm_raises_an_estimate_once() -> None:
    hand = by_hand("auto", 8.0, configs=[{}] * 9)
    names = trials(hand)
    hand.report(names[0], 1)
    end(hand, names[0], peak=1)
    for name in placed(hand):
        end(hand, name, "out_of_memory", peak=1.1)
    assert {round(hand.trial(name).resources.gpu_memory / GB, 3) for name in names[5:]} == {1.725}


def test_a_first_trial_that_runs_out_is_tried_once_more() -> None:
    hand = by_hand("auto", 8.0, configs=[{}] * 2)
    first, _ = trials(hand)
    end(hand, first, "out_of_memory", peak=4)
    assert hand.trial(first).resources.bundles == ((("gpu", 1.0), ("gpu_memory", 6e9)),)
    assert placed(hand) == [first]
    end(hand, first, "out_of_memory", peak=4)
    assert hand.status(first) is Status.ERROR


def test_whole_gpus_of_a_given_amount() -> None:
    hand = by_hand("2GB", 8.0, configs=[{}], gpu=1)
    first = trials(hand)[0]
    end(hand, first, "out_of_memory")
    assert hand.trial(first).resources == demand("3GB", gpu=1)


def test_memory_that_comes_back_late_is_waited_for() -> None:
    hand = by_hand("6GB", 8.0, configs=[{}] * 2)
    first, second = trials(hand)
    hand.capacity({"node": machine(8, taken={0: 6})})  # measured as the process ended
    assert not starts(end(hand, first, "killed"))
    assert hand.status(second) is Status.PENDING
    (start,) = starts(hand.capacity({"node": machine(8)}))
    assert start.trial_id == first or start.trial_id == second


@pytest.mark.parametrize("headroom", [1.15, 1.5])
def test_a_replay_takes_the_recorded_demands(headroom: float, monkeypatch: pytest.MonkeyPatch) -> None:
    hand = by_hand("auto", 8.0, configs=[{}] * 5)
    first, second, *_ = trials(hand)
    hand.report(first, 1)
    end(hand, first, peak=1)
    end(hand, second, "out_of_memory")
    before = {name: trial.resources for name, trial in hand.controller.trials.items()}

    monkeypatch.setattr(memory_estimate, "HEADROOM", headroom)  # the code of a later version
    again = ByHand(cpus=None, template=Template(lambda _: demand("auto")), limits={"lookahead": 5}).controller
    for record in hand.records:
        outcome, differs = again.replay(record)
        assert differs == []
        assert actions(outcome.choices) == actions(record.choices)
    assert {name: trial.resources for name, trial in again.trials.items()} == before
