"""An experiment in words: one trial's end, where the run is, and how it all came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core.messages import Reported
from overtone.core.table import Row
from overtone.core.types import Why
from overtone.observers.columns import chosen, inferred_metrics
from overtone.observers.display.plain_text import clean, cut, duration, number, show
from overtone.observers.display.progress import Best, Ending, Progress

_MAX_ERROR = 300  # columns of an error's line
_MAX_VALUE = 40


def parameters(progress: Progress, config: Mapping[str, Any], at_most: int = 8) -> str:
    """`lr=0.01, momentum=0.9`: what the search chose, the first few."""
    values = chosen(config, progress.facts.parameters)
    shown = [
        f"{clean(name)}={cut(show(value), _MAX_VALUE)}" for name, value in list(values.items())[:at_most]
    ]
    return ", ".join(shown) + (", ..." if len(values) > at_most else "")


def metrics(progress: Progress, reported: Mapping[str, Any]) -> str:
    """`mean_accuracy=0.9743`: the goal, or else the first metrics that were reported."""
    metric = progress.metric
    if metric is not None:
        value = progress.value(reported)
        return f"{clean(metric)}={show(value)}" if value is not None else f"no {clean(metric)}"
    names = inferred_metrics([reported], 3)
    return ", ".join(f"{clean(name)}={show(reported[name])}" for name in names)


def best(progress: Progress) -> str:
    """`best so far 0.981 (358bb_00004)`, or nothing."""
    found = progress.best
    return f"best so far {number(found.value)} ({clean(found.trial_id)})" if found else ""


def of_total(progress: Progress, count: int) -> str:
    """`12/60`, or `12` while nobody knows how many there will be."""
    total = progress.facts.total()
    return f"{count}" if total is None else f"{count}/{total}"


def ended(progress: Progress, ending: Ending, count: int) -> str:
    """One finished trial in one line; `count` is how many have finished with it."""
    row, why = ending
    head = f"trial {of_total(progress, count)} {clean(row.id)}"
    if row.status == "ERROR":
        error = row.error or (why.note if why else "") or "failed"
        line = clean(error.strip().split("\n", 1)[0])
        done = f" after {_iterations(row.t)}" if row.n_results else ""
        return f"{head} failed{done}: {cut(line, _MAX_ERROR)} (see {clean(row.id)}/error.txt)"
    how = stopped_by(progress, why) if why is not None and why.rule != "returned" else "finished"
    what = metrics(progress, row.metrics)
    if row.n_results:
        what += f" after {_iterations(row.t)}, {duration(_run_time(row))}"
    shown = parameters(progress, row.config)
    line = f"{head} {how}: {what.strip() or 'no result'}" + (f" ({shown})" if shown else "")
    so_far = best(progress)
    return f"{line}  {so_far}" if so_far else line


def reported(progress: Progress, row: Row, event: Reported) -> str:
    """One result in one line."""
    seconds = event.metrics.get("time_total_s")
    took = f", {duration(seconds)}" if isinstance(seconds, (int, float)) else ""
    return f"{clean(row.id)} iteration {event.t}: {metrics(progress, event.metrics)}{took}"


def stopped_by(progress: Progress, why: Why) -> str:
    """`stopped by asha at rung 4 (rank 7 of 9, cutoff 0.95)`."""
    if why.rule == "stop":
        return f"finished ({clean(why.note)})" if why.note else "finished"
    words = f"stopped by {clean(why.rule)}"
    if why.rung is not None:
        words += f" at rung {number(why.rung)}"
    parts = []
    if why.rank is not None:
        parts.append(f"rank {why.rank}" + (f" of {why.of}" if why.of is not None else ""))
    if why.cutoff is not None:
        parts.append(f"cutoff {number(progress.as_metric(why.cutoff))}")
    if why.note:
        parts.append(clean(why.note))
    return words + (f" ({', '.join(parts)})" if parts else "")


def counts(progress: Progress) -> str:
    """`48 TERMINATED (41 stopped by asha), 2 ERROR`."""
    stopped = [
        f"{n} stopped by {clean(rule)}" for rule, n in sorted(progress.rules.items()) if rule != "stop"
    ]
    words = []
    for status, count in sorted(progress.counts.items(), key=lambda item: item[0] != "TERMINATED"):
        words.append(f"{count} {status}")
        if status == "TERMINATED" and stopped:
            words[-1] += f" ({', '.join(stopped)})"
    return ", ".join(words) or "no trials"


def standing(progress: Progress, seconds: float, rate: float | None = None) -> str:
    """Return the state of the run in one line, for times without ended trials."""
    numbers = progress.counts
    words = [f"{of_total(progress, progress.n_ended)} trials finished"]
    for status in ("RUNNING", "PAUSED", "PENDING"):
        if numbers.get(status):
            words.append(f"{numbers[status]} {status.lower()}")
    if numbers.get("ERROR"):
        words.append(f"{numbers['ERROR']} failed")
    words.append(f"{progress.n_results} results" + (f", {rate:.3g}/s" if rate else ""))
    words.append(f"{duration(seconds)} so far")
    waits = progress.facts.waits()
    words += [clean(waits)] if waits else []
    line = ", ".join(words)
    so_far = best(progress)
    return f"{line}  {so_far}" if so_far else line


def beginning(progress: Progress) -> list[str]:
    """Return the first lines of a run: the engine, then the experiment."""
    facts = progress.facts
    total = facts.total()
    how_many = "" if total is None else f", {total} trial{'' if total == 1 else 's'}"
    lines = [clean(facts.engine_line)] if facts.engine_line else []
    return [*lines, f"{clean(facts.name)}{how_many}, results in {clean(facts.folder)}"]


def summary(progress: Progress, seconds: float) -> list[str]:
    """Return the last lines of a run: how trials ended, the best one, and where to look."""
    facts = progress.facts
    n = len(progress.table.rows)
    trials = f"{n} trial{'' if n == 1 else 's'}"
    results = "1 result" if progress.n_results == 1 else f"{progress.n_results} results"
    lines = [f"{trials}, {results} in {duration(seconds)}: {counts(progress)}"]
    found, earlier = progress.best_at_end() or progress.best, progress.best
    if found is not None and progress.metric is not None:
        chosen = parameters(progress, found.config, 20)
        lines.append(f"best: {_reached(progress, found)}" + (f": {chosen}" if chosen else ""))
        if earlier is not None and earlier.value != found.value:
            lines.append(f"best on the way: {_reached(progress, earlier)}")
    elif progress.metric is not None and progress.n_results:
        lines.append(f"best: none, no trial reported a number as {clean(progress.metric)}")
    elif not progress.n_results and not progress.failed and not progress.rules and n:
        lines.append(
            "no trial reported a result: call tune.report({...}) in the trainable, or return metrics"
        )
    if progress.failed:
        newest = progress.failed[-1]
        lines.append(
            f"failed: {progress.counts['ERROR']}, tracebacks in {clean(facts.folder)}/{newest.id}/error.txt"
        )
    lines.append(f"results: {clean(facts.folder)}")
    if facts.has_tensorboard and progress.n_results:
        lines.append(f"look at them: tensorboard --logdir {_quoted(facts.folder)}")
    return lines


def _reached(progress: Progress, best: Best) -> str:
    metric = clean(progress.metric or "")
    return f"{metric}={number(best.value)} by {clean(best.trial_id)} at iteration {best.t}"


def _quoted(path: str) -> str:
    from shlex import quote

    return clean(quote(path))


def _iterations(t: int) -> str:
    return f"{t} iteration{'' if t == 1 else 's'}"


def _run_time(row: Row) -> float:
    """Seconds that the trial trained, as it says itself; else from its start to its end."""
    seconds = row.metrics.get("time_total_s")
    if isinstance(seconds, (int, float)):
        return seconds
    return (row.ended or 0.0) - (row.started or 0.0)
