"""The course of a search: what a searcher is asked and told, without a controller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import inf

from overtone.core.protocols import Searcher
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import WORST, Config, Result
from overtone.space import parse

_CPU = Resources.of({"cpu": 1})
_MARK = b"<suggested>"  # before it is what libraries print
_ELSEWHERE = f"""
import sys
sys.path[:] = sys.argv[1:]
import cloudpickle
searcher, index = cloudpickle.loads(sys.stdin.buffer.read())
found = cloudpickle.dumps(searcher.suggest(index))
sys.stdout.flush()
sys.stdout.buffer.write({_MARK!r} + found)
"""


@dataclass(frozen=True, slots=True)
class Fact:
    """A suggestion (`config`), a result, or an end: what a journal would hold of it.

    Attributes:
        index: Of the suggestion.
        trial: As it was then.
    """

    index: int = -1
    config: Config | None = None
    trial: Trial | None = None
    result: Result | None = None


class Course:
    """Asks and tells one searcher, and remembers both.

    Attributes:
        facts: All of it, in order.
        configs: What was suggested.
    """

    def __init__(self, searcher: Searcher, space: object, seed: int = 7, objectives: int = 1) -> None:
        self.searcher, self.seed, self._objectives = searcher, seed, objectives
        self.facts: list[Fact] = []
        self.configs: list[Config] = []
        self._n_trials = 0
        searcher.on_start(parse(space), seed)

    def searcher_asked(self, index: int) -> Config | None:
        """Return the suggestion for `index`; None if there is none."""
        config = self.searcher.suggest(index)
        if config is None:
            return None
        self.searcher.on_suggested(index, config)
        self.configs.append(deepcopy(config))
        self.facts.append(Fact(index, deepcopy(config)))
        return config

    def ask(self) -> Trial:
        """Return the trial of the next suggestion."""
        index = len(self.configs)
        config = self.searcher_asked(index)
        assert config is not None, f"there is no suggestion {index}"
        return self.trial(config, index)

    def added(self, config: Config) -> Trial:
        """Return a trial that a scheduler added."""
        return self.trial(config, None)

    def end(self, trial: Trial, how: str, value: float) -> None:
        """Let a trial report and end: with a "value", "nan", "inf", "-inf", "silent" or "raised".

        A trial with a value reports a worse value first.
        """
        if how in ("value", "nan", "inf", "-inf"):
            last = {"value": value, "nan": WORST, "inf": inf, "-inf": WORST}[how]
            for t, score in enumerate((value - 1, last), 1):
                scores = tuple([score, -score if abs(score) < inf else score][: self._objectives])
                trial.last = Result(t, score, scores, (), {"score0": score, "training_iteration": t})
                trial.best = trial.last if trial.best is None or score > trial.best.score else trial.best
                trial.n_results = trial.ruled_t = t
                self._tell(trial, trial.last)
        trial.status = Status.ERROR if how == "raised" else Status.TERMINATED
        self._tell(trial, None)

    def trial(self, config: Config, suggestion: int | None) -> Trial:
        """Return a trial that runs with `config`."""
        index = self._n_trials
        self._n_trials += 1
        return Trial(f"trial_{index:05d}", index, config, _CPU, Status.RUNNING, suggestion=suggestion)

    def _tell(self, trial: Trial, result: Result | None) -> None:
        self.facts.append(Fact(trial=replace(trial, config=deepcopy(trial.config)), result=result))
        _told(self.searcher, trial, result)


def resumed(
    facts: Sequence[Fact], n: int, searcher: Searcher, at_most: int
) -> Iterator[tuple[Config, Config | None]]:
    """Tell a fresh searcher the first `n` facts as a resume does, then go on asking.

    Yields:
        What was suggested then and what is suggested now, for `at_most` suggestions.
    """
    for i, fact in enumerate(facts):
        if fact.trial is not None:
            _told(searcher, fact.trial, fact.result)
            continue
        assert fact.config is not None
        again = searcher.suggest(fact.index) if i >= n or searcher.replay == "asked" else None
        if i >= n:
            yield fact.config, deepcopy(again)
            at_most -= 1
        searcher.on_suggested(fact.index, deepcopy(fact.config))
        if not at_most:
            return


def suggested_elsewhere(searcher: Searcher, index: int) -> Config | None:
    """Return the searcher's suggestion in a new process, which has other hashes of strings."""
    import os
    import subprocess

    import cloudpickle

    from overtone.worker.server.python_command import new_python

    done = subprocess.run(
        new_python(_ELSEWHERE),
        input=cloudpickle.dumps((searcher, index)),
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONWARNINGS": "ignore"},
    )
    assert not done.returncode, done.stderr.decode()
    config: Config | None = cloudpickle.loads(done.stdout[done.stdout.rindex(_MARK) + len(_MARK) :])
    return config


def _told(searcher: Searcher, trial: Trial, result: Result | None) -> None:
    if result is not None:
        searcher.on_result(trial, result)
    else:
        searcher.on_trial_end(trial)
