"""One result of each trial: from columns and few reads if the journal is long, else trial by trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from overtone.analysis.columns import columns_of
from overtone.analysis.frames import flatten, frame, frame_of
from overtone.analysis.ranking import best_result
from overtone.core.goal import OWN_FIELDS, is_number, lookup, real
from overtone.reading.trial_index import Block

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from overtone.analysis.recorded_trial import RecordedTrial
    from overtone.reading.columns.chosen_results import Chosen
    from overtone.reading.columns.trial_columns import Column
    from overtone.reading.index_on_demand import IndexOnDemand

    Read = Callable[[RecordedTrial], Mapping[str, Any] | None]


class _Choice(NamedTuple):
    """The result that is asked for of some trials.

    Attributes:
        rows: The numbers of the trials, in rising order.
        ts: The iteration of each result; None for the last ones.
        metric: The metric that has `values` there; "" for any results.
    """

    rows: NDArray[np.int64]
    ts: NDArray[np.int64] | None = None
    metric: str = ""
    values: Sequence[float] = ()


def last_results(
    index: IndexOnDemand, trials: Sequence[RecordedTrial]
) -> Iterator[tuple[RecordedTrial, Mapping[str, Any]]]:
    """Yield each trial with its last result; with its facts before the first."""
    choice = _last(index, trials)
    found = None if choice is None else index.chosen_results(choice.rows)
    for part in range(len(trials)) if found is None else found:
        if isinstance(part, int):
            yield trials[part], _last_result(trials[part])
        else:
            yield from zip((trials[row] for row in part.rows.tolist()), _complete(part), strict=True)


def last_frame(index: IndexOnDemand, trials: Sequence[RecordedTrial]) -> Any:
    """Return a frame of each trial's last result, or of its facts before the first, by trial_id."""
    choice = _last(index, trials)
    made = None if choice is None else _frame(index, trials, choice, _last_result)
    if made is not None:
        return made.set_index("trial_id")
    return frame((flatten(result) for _, result in last_results(index, trials)), index="trial_id")


def reported_frame(
    index: IndexOnDemand, trials: Sequence[RecordedTrial], metric: str | None, mode: str | None
) -> Any:
    """Return a frame of one result of each trial that reported, with the trial's folder as "logdir".

    Args:
        metric, mode: Take the first result with the best value; with None for one, the last result.
    """
    read: Read
    if metric is None or mode is None:
        choice, read = _last(index, trials, reported=True), _last_result
        every = (one for one in last_results(index, trials) if "timesteps_total" in one[1])  # in each result
    else:
        choice, read = _best(index, trials, metric, mode), _reads_best(metric, mode)
        every = ((one, result) for one in trials if (result := read(one)) is not None)
    made = None if choice is None else _frame(index, trials, choice, read, has_folders=True)
    if made is not None:
        return made
    return frame({**flatten(result), "logdir": trial.local_path} for trial, result in every)


def _last_result(trial: RecordedTrial) -> Mapping[str, Any]:
    return trial.last_result or trial.facts()


def _reads_best(metric: str, mode: str) -> Read:
    return lambda trial: best_result(trial.results(), metric, mode)


def _last(index: IndexOnDemand, trials: Sequence[RecordedTrial], reported: bool = False) -> _Choice | None:
    """Return the last results of all trials, or of those that reported; None if columns do not tell."""
    if index.columns is None or len(trials) != len(index.columns):
        return None
    import numpy as np

    return _Choice(np.flatnonzero(index.columns.n_results) if reported else np.arange(len(trials)))


def _best(index: IndexOnDemand, trials: Sequence[RecordedTrial], metric: str, mode: str) -> _Choice | None:
    """Return the best results of the trials with a value; None if columns do not tell."""
    columns = index.columns
    if columns is None or len(trials) != len(columns) or metric.partition("/")[0] in OWN_FIELDS:
        return None
    found = columns.metrics.get(metric)
    if found is None or not found.is_exact or not found.is_whole:
        return None
    import numpy as np

    values = found.best(mode)
    rows = np.flatnonzero(~np.isnan(values))
    return _Choice(rows, found.best_t(mode)[rows], metric, values[rows].tolist())


def _complete(part: Chosen) -> Iterator[dict[str, Any]]:
    """Yield results as users know them; the facts of trials without a result."""
    assert part.configs is not None
    names = tuple(part.facts)
    for metrics, config, *facts in zip(part.metrics, part.configs, *part.facts.values(), strict=True):
        result = {} if metrics is None else {"timesteps_total": None, **metrics}
        result.update(zip(names, facts, strict=True))
        result["config"] = config
        yield result


def _frame(
    index: IndexOnDemand,
    trials: Sequence[RecordedTrial],
    choice: _Choice,
    read: Read,
    has_folders: bool = False,
) -> Any:
    """Return a frame of the chosen results, column by column; None if columns do not tell all of it.

    Args:
        read: Returns a trial's result, to be read by itself; None if it has none after all.
        has_folders: Whether "logdir" is a column.
    """
    params = index.parameter_columns()
    found = None if params is None else index.chosen_results(choice.rows, choice.ts, with_configs=False)
    if found is None or params is None:
        return None

    def blocks() -> Iterator[Block]:
        done = 0
        for part in found:
            alone: list[Any] = [part]
            if not isinstance(part, int):
                values = choice.values[done : done + len(part.rows)]
                alone = list(part.without(_differs(part, choice.metric, values))) if values else alone
            done += 1 if isinstance(part, int) else len(part.rows)
            for one in alone:
                if not isinstance(one, int):
                    yield _block(one, params, [trials[row] for row in one.rows] if has_folders else None)
                elif (result := read(trials[one])) is not None:
                    yield Block(
                        [{**result, "logdir": trials[one].local_path} if has_folders else dict(result)], {}
                    )

    return frame_of(columns_of(blocks()))


def _differs(part: Chosen, metric: str, values: Sequence[float]) -> NDArray[np.bool_]:
    """Return which results do not have these values."""
    import numpy as np

    own: list[Any] = [None if one is None else lookup(one, metric) for one in part.metrics]
    return np.array(
        [not is_number(one) or real(one) != value for one, value in zip(own, values, strict=True)], np.bool_
    )


def _block(part: Chosen, params: Mapping[str, Column], trials: Sequence[RecordedTrial] | None) -> Block:
    cells: dict[str, Any] = dict(part.facts)
    for name, column in params.items():
        cells[f"config/{name}"] = _cells(column, part.rows)
    if trials is not None:
        cells["logdir"] = [one.local_path for one in trials]
    return Block([{} if one is None else one for one in part.metrics], {}, cells)


def _cells(column: Column, rows: NDArray[np.int64]) -> Any:
    """Return the values of a hyperparameter as an array, or as a list with None for what is missing."""
    import numpy as np

    values, missing = column.values[rows], column.missing[rows]
    if column.levels is not None:
        cells = [column.levels[code] for code in values.tolist()]
    elif column.is_integer and not missing.any():
        return values.astype(np.int64)
    elif not missing.any():
        return values
    else:
        cells = np.where(missing, 0, values).astype(np.int64 if column.is_integer else np.float64).tolist()
    return [None if gone else cell for cell, gone in zip(cells, missing.tolist(), strict=True)]
