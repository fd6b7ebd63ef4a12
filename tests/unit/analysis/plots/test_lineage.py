from __future__ import annotations

from dataclasses import replace

import numpy as np

from overtone.analysis.plots.lineage import lineage
from overtone.reading.columns.trial_columns import Exploit
from overtone.testing.trial_tables import category, number, table


def columns(source: list[int], loss: list[float] | None = None):  # type: ignore[no-untyped-def]
    n = len(source)
    return table(
        {"lr": number([0.1 * (i + 1) for i in range(n)]), "kind": category(["a"] * n)},
        {"loss": loss or list(range(n))},
        source=np.array(source, np.int32),
    )


def test_families_are_told_with_what_changed() -> None:
    family = lineage(columns([-1, 0, -1, 0, 1, -1]))
    assert family.rows.tolist() == [0, 1, 4, 3]
    assert family.source.tolist() == [-1, 0, 1, 0]
    assert family.generation.tolist() == [0, 1, 2, 1]
    assert family.lane.tolist() == [0.5, 0, 0, 1]
    assert [[change.text for change in one] for one in family.changes] == [
        [],
        ["lr 0.1 → 0.2"],
        ["lr 0.2 → 0.5"],
        ["lr 0.1 → 0.4"],
    ]
    assert family.shown.n_all == 4


def test_trials_that_exploited_each_other_have_several_lives() -> None:
    family = lineage(columns([1, 2, 0, 3, 9]))
    assert list(zip(family.rows.tolist(), family.source.tolist(), family.is_over.tolist(), strict=True)) == [
        (1, -1, True), (0, 0, False), (2, 1, False), (2, -1, True), (1, 3, False),
    ]  # fmt: skip
    assert family.generation.tolist() == [0, 1, 2, 0, 1]
    assert np.isnan(family.values).tolist() == [True, False, False, True, False]


def test_the_whole_history_of_a_trial_is_kept() -> None:
    steps = [
        Exploit(0, 1, 4, 3, {"lr": 0.2}, {"lr": 0.3}),
        Exploit(1, 0, 8, 7, {"lr": 0.3}, {"lr": 0.4, "new": 1}),
        Exploit(0, 2, 8, 8, {"lr": 0.1}, {"lr": 0.1}),
    ]
    family = lineage(replace(columns([2, 0, -1]), exploits=lambda rows: steps))
    texts = {
        (row, t): [one.text for one in each]
        for row, t, each in zip(family.rows.tolist(), family.t.tolist(), family.changes, strict=True)
    }
    assert texts[0, 4.0] == ["lr 0.2 → 0.3"]
    assert texts[1, 8.0] == ["lr 0.3 → 0.4", "new none → 1"]
    assert texts[0, 8.0] == []
    parents = {
        (row, t): (int(family.rows[i]), float(family.t[i]))
        for row, t, i in zip(family.rows.tolist(), family.t.tolist(), family.source.tolist(), strict=True)
        if i >= 0
    }
    assert parents == {(0, 4.0): (1, 0.0), (1, 8.0): (0, 4.0), (0, 8.0): (2, 0.0)}


def test_the_families_with_the_best_values_come_first() -> None:
    assert lineage(columns([-1, 0, -1, 2], [5, 4, 3, 1])).rows.tolist() == [2, 3, 0, 1]


def test_a_long_chain_is_cut() -> None:
    family = lineage(columns(list(range(-1, 9_999))))
    assert (family.shown.n_shown, family.shown.n_all) == (5_000, 10_000)
    assert family.generation.max() == 4_999


def test_the_source_is_the_life_that_it_had_at_the_decision() -> None:
    # trial 1 went on from trial 2 before trial 0 took effect, which was decided earlier
    steps = [
        Exploit(1, 2, 3, 3, {}, {}, n_before=0),
        Exploit(0, 1, 3, 3, {}, {}, n_before=0),
        Exploit(2, 1, 6, 6, {}, {}, n_before=1),
    ]
    family = lineage(replace(columns([1, 2, 1]), exploits=lambda rows: steps))
    lives = list(zip(family.rows.tolist(), family.t.tolist(), strict=True))
    parents = {life: lives[i] for life, i in zip(lives, family.source.tolist(), strict=True) if i >= 0}
    assert parents == {(1, 3.0): (2, 0.0), (0, 3.0): (1, 0.0), (2, 6.0): (1, 3.0)}
