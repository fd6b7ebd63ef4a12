"""Conformance tests for searchers: subclass the test class and define `make_searcher`.

class TestMySearcher(SearcherConformance):
    def make_searcher(self, **arguments):
        return MySearcher(**arguments)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pytest

from overtone.core.goal import Goal
from overtone.core.protocols import Searcher
from overtone.core.randomness import keyed
from overtone.errors import SpaceError
from overtone.space import (
    choice,
    lograndint,
    loguniform,
    parse,
    qlograndint,
    qloguniform,
    qrandint,
    quniform,
    randint,
    randn,
    sample_from,
    uniform,
)
from overtone.space.match import fits
from overtone.testing.search_course import Course, resumed, suggested_elsewhere

SPACES: dict[str, dict[str, Any]] = {
    "one real number": {"x": uniform(-1.0, 2.0)},
    "logarithmic": {"x": loguniform(1e-6, 1e-1), "n": lograndint(1, 5000), "base": loguniform(1, 1024, 2)},
    "whole numbers": {"n": randint(-3, 9), "two": randint(0, 2), "wide": randint(0, 10**9)},
    "in steps": {
        "a": quniform(0.1, 0.9, 0.1), "b": qrandint(8, 64, 8), "c": qloguniform(0.25, 64, 0.25),
        "d": qlograndint(2, 1000, 2),
    },
    "normal": {"x": randn(10.0, 2.0), "y": uniform(0, 1)},
    "categorical": {"act": choice(["relu", "tanh", None]), "n": choice([1, 2.0, True]),
                    "s": choice([(1, 2), (3,)])},
    "constants": {"x": uniform(0, 1), "fixed": 3, "only": choice(["this"]), "one": randint(4, 5),
                  "list": [1, "a"]},
    "nothing to search": {"fixed": 3, "only": choice(["this"])},
    "nested": {"model": {"lr": uniform(0, 1), "layers": [randint(1, 5), randint(1, 5)]},
               "a/b": uniform(0, 1)},
    "computed": {"x": uniform(0, 1), "double": sample_from(lambda spec: spec.config.x * 2)},
}  # fmt: skip
CONDITIONAL = {
    "model": choice([
        {"kind": "svm", "c": loguniform(1e-3, 1e3)},
        {"kind": "forest", "depth": randint(1, 9), "split": choice(["gini", {"alpha": uniform(0, 1)}])},
        None,
    ]),
    "lr": uniform(0, 1),
}  # fmt: skip
WIDE = {
    f"x{i:03d}": (uniform(0, 1), loguniform(1e-3, 1), randint(0, 10), choice(["a", "b"]))[i % 4]
    for i in range(200)
}
PLANE = {"x": uniform(0, 1), "y": uniform(0, 1)}
ENDS = ("value", "nan", "value", "raised", "inf", "value", "-inf", "silent", "value")
"""The ends of trials, in turn."""


class SearcherConformance(ABC):
    """The contract of a searcher: valid suggestions after all observations, repeatable in a resume.

    Attributes:
        n: Maximum number of trials in a test.
        n_first: Number of trials that must have ended before suggestions use results.
        parallel: Number of trials that run at the same time.
        kills: Number of suggestions, evenly spread up to the last, before which the driver is killed;
            None for a kill at every fact.
        objectives: Number of objectives of a result.
        is_conditional: Whether it accepts spaces with branches; if not, it must raise an error.
        is_distinct: Whether it suggests nothing twice, and ends when a finite space is exhausted.
        is_learning: Whether later suggestions are better than the first.
        takes_points: Whether it has `points_to_evaluate`.
        takes_rewards: Whether it has `evaluated_rewards`.
        n_learning: Number of trials after which suggestions must have improved.
        is_tried_elsewhere: Whether it is pickled and tested in another process, as slow ones always are.
    """

    n = 14
    n_first = 0
    parallel = 4
    kills: int | None = None
    objectives = 1
    is_conditional = True
    is_distinct = False
    is_learning = True
    takes_points = True
    takes_rewards = True
    n_learning = 30
    is_tried_elsewhere = False

    @abstractmethod
    def make_searcher(self, **arguments: Any) -> Searcher:
        """Return a searcher; `arguments` are `points_to_evaluate` and `evaluated_rewards`, or nothing."""

    def test_these_searches_go_beyond_its_first_suggestions(self) -> None:
        assert self.n - self.parallel > self.n_first, "what it learnt would show in no suggestion"

    @pytest.mark.parametrize("name", SPACES)
    def test_its_suggestions_are_in_the_space(self, name: str) -> None:
        self._search(SPACES[name])

    def test_it_takes_conditional_spaces_or_says_why_not(self) -> None:
        if self.is_conditional:
            seen = {type(config["model"]) for config in self._search(CONDITIONAL, max(self.n, 9)).configs}
            assert len(seen) == 2, "only one branch was ever tried"
            return
        with pytest.raises(SpaceError, match="model"):
            self._search(CONDITIONAL)

    def test_it_takes_200_dimensions(self) -> None:
        n = max(6, self.n_first + self.parallel + 1)
        assert len(set(self._search(WIDE, n).configs[-1])) == 200

    @pytest.mark.parametrize("end", sorted(set(ENDS) - {"value"}))
    def test_nothing_but_bad_news(self, end: str) -> None:
        course = self._course(PLANE)
        for _ in range(self.n):
            course.end(course.ask(), end, 0.0)
        assert all(fits(parse(PLANE), config) for config in course.configs)

    def test_those_that_wait_are_not_suggested_again(self) -> None:
        course = self._course(PLANE)
        for i in range(max(self.n // 2, self.n_first + 1)):
            course.end(course.ask(), "value", float(i))
        waiting = [course.ask().config for _ in range(8)]
        assert len({tuple(config.values()) for config in waiting}) == 8

    def test_the_same_seed_suggests_the_same(self) -> None:
        assert self._search(PLANE).configs == self._search(PLANE).configs

    def test_another_seed_suggests_something_else(self) -> None:
        assert self._search(PLANE, 3, seed=1).configs != self._search(PLANE, 3, seed=2).configs

    @pytest.mark.parametrize("name", ["one real number", "in steps", "categorical", "conditional"])
    def test_it_survives_that_its_driver_is_killed(self, name: str) -> None:
        """Told what the log holds, it makes the same next suggestions."""
        if name == "conditional" and not self.is_conditional:
            return
        space = {**SPACES, "conditional": CONDITIONAL}[name]
        course = self._search(space)
        at = [*range(len(course.facts))]
        if self.kills is not None:
            before = [n for n in at if course.facts[n].config is not None]
            at = before[:: -max(1, len(before) // self.kills)][: self.kills]
        for n in at:
            self._compare(course, n, space)

    def test_in_another_process_it_suggests_the_same(self) -> None:
        """Slow searchers suggest in another process, and a resume is one. Hashes of strings differ there."""
        if not (self.is_tried_elsewhere or self.make_searcher().is_slow):
            return
        course = self._search(PLANE)
        assert suggested_elsewhere(course.searcher, self.n) == course.searcher.suggest(self.n)

    def test_what_a_trial_does_with_its_config_is_its_own_affair(self) -> None:
        touched, untouched = (self._course(SPACES["nested"]) for _ in range(2))
        for _ in range(max(4, self.n_first + 2)):
            for course in (touched, untouched):
                trial = course.ask()
                if course is touched:
                    trial.config["model"]["layers"][0] = -1
                    trial.config.clear()
                course.end(trial, "value", 1.0)
        assert touched.configs == untouched.configs

    def test_trials_that_a_scheduler_added_do_no_harm(self) -> None:
        course = self._course(PLANE)
        for i in range(max(3, self.n_first)):
            course.end(course.ask(), "value", float(i))
            course.end(course.added({"x": 0.25, "y": 0.5}), "value", 1.0)
            course.end(course.added({"x": 7.0, "z": "what the space does not have"}), "value", 1.0)
        assert fits(parse(PLANE), course.ask().config)

    def test_it_finds_what_is_good(self) -> None:
        if not self.is_learning:
            return
        course, scores = self._course(PLANE), []
        for _ in range(self.n_learning):
            trial = course.ask()
            scores.append(1 - (trial.config["x"] - 0.7) ** 2 - (trial.config["y"] - 0.2) ** 2)
            course.end(trial, "value", scores[-1])
        third = self.n_learning // 3
        assert sum(scores[-third:]) > sum(scores[:third]), "its last suggestions are no better than its first"

    def test_a_finite_space_is_gone_through_once(self) -> None:
        if not self.is_distinct:
            return
        course = self._course({"n": randint(0, 5), "act": choice(["relu", "tanh"])})
        found = [config for config in map(course.searcher_asked, range(64)) if config is not None]
        assert sorted((config["n"], config["act"]) for config in found) == [
            (n, a) for n in range(5) for a in ("relu", "tanh")
        ]

    def test_given_points_come_first(self) -> None:
        if not self.takes_points:
            return
        points = [{"x": 0.25, "y": 0.75}, {"x": 0.125}]
        course = self._course(PLANE, points_to_evaluate=points)
        first, second, third = (course.ask().config for _ in range(3))
        assert first == points[0]
        assert second["x"] == 0.125
        assert fits(parse(PLANE), second)
        assert third["x"] not in (0.25, 0.125)
        for n in range(3):
            self._compare(course, n, PLANE, points_to_evaluate=points)

    def test_known_points_are_learnt_from_and_not_tried(self) -> None:
        if not self.takes_rewards:
            return
        known: dict[str, Any] = {
            "points_to_evaluate": [{"x": 0.25, "y": 0.75}, {"x": 0.5, "y": 0.5}],
            "evaluated_rewards": [1.5],
        }
        course = self._course(PLANE, **known)
        assert course.ask().config == {"x": 0.5, "y": 0.5}
        assert course.ask().config != {"x": 0.25, "y": 0.75}

    # --- how ---------------------------------------------------------------------------

    def _course(self, space: Any, seed: int = 7, **arguments: Any) -> Course:
        searcher = self.make_searcher(**arguments)
        names = [f"score{i}" for i in range(self.objectives)]
        searcher.goal = Goal(names if self.objectives > 1 else names[0], "max")
        return Course(searcher, space, seed, self.objectives)

    def _search(self, space: Any, n: int | None = None, seed: int = 7) -> Course:
        """Return a search in which trials end in every way, in another order than they began in."""
        course, running = self._course(space, seed), []
        chance, root = keyed(seed, "conformance"), parse(space)
        for i in range(n or self.n):
            config = course.searcher_asked(i)
            if config is None and self.is_distinct:
                break
            assert config is not None, f"there is no suggestion {i}"
            running.append(course.trial(config, i))
            assert fits(root, course.configs[-1]), course.configs[-1]
            if len(running) == self.parallel:
                trial = running.pop(chance.randrange(len(running)))
                course.end(trial, ENDS[i % len(ENDS)], chance.gauss(0, 1))
        return course

    def _compare(self, course: Course, n: int, space: Any, **arguments: Any) -> None:
        """Check that a driver killed after `n` facts resumes with the same suggestions."""
        fresh = self._course(space, course.seed, **arguments)
        compared = resumed(course.facts, n, fresh.searcher, at_most=2)
        for then, now in compared:
            assert now == then, f"after {n} facts it suggested {then}, and now it suggests {now}"


__all__ = ["CONDITIONAL", "SPACES", "WIDE", "SearcherConformance"]
