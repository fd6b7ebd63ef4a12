"""How many trials of a searcher run at once."""

import pytest

from overtone import tune
from overtone.engines.simulated import Simulated
from overtone.errors import OvertoneError
from overtone.searchers import BasicVariantGenerator, ConcurrencyLimiter
from overtone.searchers.library.bayesopt import BayesOptSearch
from overtone.testing.search_course import Course


def curve(config, t):
    return {"score": config["x"]} if t == 1 else None


def most_at_once(tmp_path, searcher):
    running, most = set(), 0

    class Watch(tune.Callback):
        def on_trial_start(self, iteration, trials, trial, **info):
            nonlocal most
            running.add(trial.trial_id)
            most = max(most, len(running))

        def on_trial_complete(self, iteration, trials, trial, **info):
            running.discard(trial.trial_id)

    found = tune.run(
        curve, config={"x": tune.uniform(0, 1)}, num_samples=9, search_alg=searcher, callbacks=[Watch()],
        engine=Simulated(8), storage_path=str(tmp_path), verbose=0, seed=1,
    )  # fmt: skip
    assert len(found.trials) == 9
    return most


def test_without_one_all_slots_are_used(tmp_path):
    assert most_at_once(tmp_path, BasicVariantGenerator()) == 8


def test_no_more_than_allowed(tmp_path):
    assert most_at_once(tmp_path, ConcurrencyLimiter(BasicVariantGenerator(), 3)) == 3


def test_batches_come_to_the_same_number(tmp_path):
    assert most_at_once(tmp_path, ConcurrencyLimiter(BasicVariantGenerator(), 4, batch=True)) == 4


def test_a_batch_waits_for_all_of_the_last():
    searcher = ConcurrencyLimiter(BasicVariantGenerator(num_samples=-1), 2, batch=True)
    course = Course(searcher, {"x": tune.uniform(0, 1)})
    first, second = course.ask(), course.ask()
    assert searcher.suggest(2) is None
    course.end(first, "value", 1.0)
    assert searcher.suggest(2) is None
    course.end(second, "raised", 1.0)
    assert searcher.suggest(2) is not None


@pytest.mark.parametrize("number", [0, -1, 1.5, True, None])
def test_other_numbers_are_refused(number):
    with pytest.raises(ValueError, match="1 or more"):
        ConcurrencyLimiter(BasicVariantGenerator(), number)


def test_it_is_put_around_a_searcher():
    with pytest.raises(OvertoneError, match="around a searcher"):
        ConcurrencyLimiter("optuna", 2)


def test_it_is_made_again_from_data_with_what_it_limits():
    from overtone.journal.header import described
    from overtone.run.resume.recorded_experiment import _made

    made = _made(described(ConcurrencyLimiter(BayesOptSearch({"x": 1}, random_state=3), max_concurrent=2)))
    assert (made.max_concurrent, made.searcher.seed, made.searcher.space) == (2, 3, {"x": 1})
