"""Random programs of ranks: the head always comes back, and says what a model of the barrier says."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overtone.errors import GangError, TrialHalted
from overtone.testing.forked_ranks import ForkedRanks
from overtone.tune.session import get_context
from overtone.worker.gang import call
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.reports import Report

ACTIONS = ("report", "report", "report", "record", "raise", "die", "return")
Program = list[str]


def play(programs: list[Program], folder: str) -> int:
    """Do what this rank's program says; return the number of reports."""
    n_reports = 0
    for action in programs[get_context().get_world_rank()]:
        if action == "report":
            get_context().report(n=n_reports)
            n_reports += 1
        elif action == "record":
            get_context().record_checkpoint(folder)
        elif action == "raise":
            raise ValueError("by program")
        elif action == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            break
    return n_reports


def expected(programs: list[Program], halt_at: int) -> tuple[str, set[int], int]:
    """Return how it ends, the ranks at fault, and the number of reports that the head sees."""
    n_reports = 0
    for actions in zip(*[[*program, *["return"] * 9] for program in programs], strict=False):
        for kind in ("die", "raise"):
            if kind in actions:
                return "failed", {i for i, one in enumerate(actions) if one in ("die", "raise")}, n_reports
        if "return" in actions:
            if set(actions) == {"return"}:
                return "returned", set(), n_reports
            return "failed", {i for i, one in enumerate(actions) if one == "return"}, n_reports
        if len(set(actions)) > 1:
            return "failed", {i for i, one in enumerate(actions) if one == "record"}, n_reports
        if actions[0] == "report":
            n_reports += 1
            if n_reports == halt_at:
                return "halted", set(), n_reports
    raise AssertionError("a program has no end")


@pytest.fixture(scope="module")
def gang() -> Iterator[Gang]:
    with Gang(ForkedRanks(), 2, timeout_s=60) as made:
        yield made


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    programs=st.lists(st.lists(st.sampled_from(ACTIONS), max_size=4), min_size=2, max_size=2),
    halt_at=st.integers(1, 6),
)
def test_the_head_says_what_happened(
    gang: Gang, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, programs: list[Program], halt_at: int
) -> None:
    monkeypatch.setattr(call, "GATHER_S", 0.1)
    seen: list[Report] = []

    def on_report(reports: list[Report]) -> None:
        assert [report.rank for report in reports] == [0, 1]
        if not reports[0].is_record:
            seen.extend(reports[:1])
            if len(seen) == halt_at:
                raise TrialHalted("by program")

    how, at_fault, n_reports = expected(programs, halt_at)
    try:
        results: Any = gang.run(play, programs, str(tmp_path), on_report=on_report)
        assert (how, results) == ("returned", [n_reports] * 2)
    except TrialHalted:
        assert how == "halted"
    except GangError as error:
        assert how == "failed", error
        assert error.rank in at_fault, error
        if "die" in (programs[0] + programs[1]):
            gang.restart()
    assert len(seen) == n_reports
    assert gang.call(len, [1]) == [1, 1]
