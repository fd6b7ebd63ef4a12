"""A fold as facts and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.core.goal import Goal
from overtone.reading.columns.journal_fold import FACTS, JournalFold
from overtone.reading.columns.run_facts import RunFacts
from overtone.space.nesting import tagged_tuples, with_tuples

_MENTIONED, _DISTANCES, _KINDS, _IDS = "mentioned", "distances", "kinds", "ids"


def fold_to_arrays(fold: JournalFold) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return a fold as JSON data and arrays."""
    goal = fold.goal
    facts: dict[str, Any] = {
        "offset": fold.offset,
        "n": fold.n,
        "rows": fold.arrays.n,
        "seed": fold.seed,
        "parts": fold.parts,
        "goal": [goal.metrics, goal.modes, dict(zip(goal.constraints, goal.bounds, strict=True))],
        "has_results": fold.has_results,
        "sources": list(fold.sources.items()),
        "nodes": fold.nodes.values,
        "ends": fold.ends.values,
        "parameters": [
            [name, is_integer, None if levels is None else tagged_tuples(levels)]
            for name, is_integer, levels in fold.parameters.data()
        ],
        "metrics": [list(fold.metrics.names), sorted(fold.metrics.inexact), sorted(fold.metrics.broken)],
        "time": fold.time,
        "rungs": sorted(fold.rungs),
        "run": fold.run.data(),
    }
    rows, offsets, kinds = fold.mentions.arrays()
    arrays: dict[str, NDArray[Any]] = {
        _IDS: np.frombuffer("\n".join(fold.ids).encode(), np.uint8),
        _MENTIONED: rows,
        _DISTANCES: np.diff(offsets, prepend=0),
        _KINDS: kinds,
        **{f"{kind} {name}": fold.arrays.view((kind, name)) for kind, name in fold.arrays},
    }
    return facts, arrays


def fold_from_arrays(
    journal: Path, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> JournalFold:
    """Return the fold of a journal that `fold_to_arrays` wrote.

    Raises:
        ValueError, KeyError, TypeError: They do not fit together.
    """
    fold = JournalFold(journal)
    n = facts["rows"]
    ids = arrays[_IDS].tobytes().decode()
    fold.begin(facts["offset"], facts["n"], ids.split("\n") if ids else [])
    if len(fold.ids) != n:
        raise ValueError("it has too few names")
    fold.seed = facts["seed"]
    fold.set_up(facts["parts"])
    metrics, modes, constraints = facts["goal"]
    fold.aim(Goal(metrics, modes, constraints=constraints))
    fold.has_results = facts["has_results"]
    fold.sources = dict(map(tuple, facts["sources"]))
    fold.nodes.codes(facts["nodes"])
    fold.ends.codes(facts["ends"])
    for name, (dtype, fill) in FACTS.items():
        fold.arrays.restore((name, ""), dtype, fill, arrays[f"{name} "])
    fold.parameters.restore(
        [(name, flag, with_tuples(one)) for name, flag, one in facts["parameters"]], arrays
    )
    names, inexact, broken = facts["metrics"]
    fold.metrics.restore(names, arrays)
    fold.metrics.inexact.update(inexact)
    fold.metrics.broken.update(broken)
    fold.time = facts["time"]
    fold.rungs.update(facts["rungs"])
    fold.run = RunFacts.of_data(facts["run"])
    offsets = np.cumsum(arrays[_DISTANCES], dtype=np.int64)
    fold.mentions.restore(arrays[_MENTIONED], offsets, arrays[_KINDS])
    return fold
