"""An experiment in words: one trial's end, where the run is, and how it all came out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from overtone.core.messages import Reported
from overtone.core.table import Row
from overtone.core.trial import Status
from overtone.core.types import Why
from overtone.observers.columns import chosen, inferred_metrics
from overtone.observers.display.plain_text import clean, cut, duration, folded, number, show, width
from overtone.observers.display.progress import Ending, Progress
from overtone.reading.location import RESULTS

_MAX_ERROR = 300  # columns of an error's line
_MAX_VALUE = 40


def parameters(progress: Progress, config: Mapping[str, Any], at_most: int = 8) -> str:
    """Return text such as `lr=0.01, momentum=0.9`: what the search chose, the first few."""
    values = chosen(config, progress.facts.parameters)
    shown = [
        f"{clean(name)}={cut(show(value), _MAX_VALUE)}" for name, value in list(values.items())[:at_most]
    ]
    return ", ".join(shown) + (", ..." if len(values) > at_most else "")


def metrics(progress: Progress, reported: Mapping[str, Any]) -> str:
    """Return text such as `mean_accuracy=0.9743`: the goal, or else the first metrics that were reported."""
    metric = progress.metric
    if metric is not None:
        value = progress.value(reported)
        return f"{clean(metric)}={show(value)}" if value is not None else f"no {clean(metric)}"
    names = inferred_metrics([reported], 3)
    return ", ".join(f"{clean(name)}={show(reported[name])}" for name in names)


def best(progress: Progress) -> str:
    """Return text such as `best so far 0.981 (last value of 358bb_00004)`, or nothing."""
    found = progress.best
    return f"best so far {number(found.value)} (last value of {clean(found.trial_id)})" if found else ""


def best_lines(progress: Progress, room: int | None = None) -> list[str]:
    """Return the best trial by last values, its whole config, and its best value on the way if that differs.

    Args:
        room: The columns of the terminal, at which the config is wrapped; None leaves it on one line.
    """
    found = progress.best
    if found is None:
        return []
    metric, whose = clean(progress.metric or ""), clean(found.trial_id)
    lines = [f"best by last value: {metric}={number(found.value)} by {whose} at iteration {found.t}"]
    n_objectives = len(progress.facts.limits.metrics)
    if n_objectives > 1:
        lines[0] += f" ({metric} is the first of {n_objectives} objectives)"
    config = configuration(progress, found.config)
    lines += [f"  {line}" for line in ([config] if room is None else folded(config, room - 2)) if line]
    if found.best_value != found.value:
        lines.append(f"  on the way: {metric}={number(found.best_value)} at iteration {found.best_t}")
    return lines


def configuration(progress: Progress, config: Mapping[str, Any]) -> str:
    """Return all values that the search chose, uncut: `lr=0.01, momentum=0.9`."""
    values = chosen(config, progress.facts.parameters)
    return ", ".join(f"{clean(name)}={show(value)}" for name, value in values.items())


def of_total(progress: Progress, count: int) -> str:
    """Return text such as `12/60`, or `12` while nobody knows how many there will be."""
    total = progress.total
    return f"{count}" if total is None else f"{count}/{total}"


def ended(progress: Progress, ending: Ending, count: int) -> str:
    """Return the line of a finished trial; `count` is the number of finished trials, with this one."""
    row, why = ending
    place = location(row)
    head = f"trial {of_total(progress, count)} {clean(row.id)}{f' on {place}' if place else ''}"
    if row.status == "ERROR":
        error = row.error or (why.note if why else "") or "failed"
        line = clean(error.strip().split("\n", 1)[0])
        done = f" after {_iterations(row.t)}" if row.n_results else ""
        return f"{head} failed{done}: {cut(line, _MAX_ERROR)} (see {clean(row.id)}/error.txt)"
    how = ended_by(progress, why)
    what = metrics(progress, row.metrics)
    if row.n_results:
        what += f" after {_iterations(row.t)}, {duration(_run_time(row))}"
    shown = parameters(progress, row.config)
    line = f"{head} {how}: {what.strip() or 'no result'}" + (f" ({shown})" if shown else "")
    so_far = best(progress)
    return f"{line}  {so_far}" if so_far else line


def reported(progress: Progress, row: Row, event: Reported) -> str:
    """Return the line of a result."""
    seconds = event.metrics.get("time_total_s")
    took = f", {duration(seconds)}" if isinstance(seconds, (int, float)) else ""
    return f"{clean(row.id)} iteration {event.t}: {metrics(progress, event.metrics)}{took}"


def ended_by(progress: Progress, why: Why | None) -> str:
    """Return text such as `finished (reached max_t=18)` or `stopped by asha at rung 4 (rank 7 of 9)`."""
    if why is None or why.is_own_end:
        return f"finished ({clean(why.note)})" if why is not None and why.note else "finished"
    if why.is_request:
        return clean(why.note) or "stopped by request"
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
    """Return text such as `48 TERMINATED (7 finished, 41 stopped by asha), 2 ERROR`."""
    stopped = [f"{n} stopped by {clean(rule)}" for rule, n in sorted(progress.rules.items())]
    words = []
    for status, count in sorted(progress.counts.items(), key=lambda item: item[0] != "TERMINATED"):
        words.append(f"{count} {status}")
        if status == "TERMINATED" and stopped:
            finished = count - sum(progress.rules.values())
            parts = [f"{finished} finished", *stopped] if finished > 0 else stopped
            words[-1] += f" ({', '.join(parts)})"
    return ", ".join(words) or "no trials"


def results(progress: Progress) -> str:
    """Return the number of results: `1 result`, `86 results`."""
    return f"{progress.n_results} result{'' if progress.n_results == 1 else 's'}"


def unfinished(progress: Progress) -> list[str]:
    """Return the numbers of trials that may continue: `4 running`, `2 pending`, `3 held`.

    A trial that a request holds counts as held, whether it is paused or pending.
    """
    numbers, held = progress.counts, progress.table.held
    for row in held.values():
        numbers[Status(row.status).shown] -= 1
    words = [f"{numbers[one]} {one.lower()}" for one in ("RUNNING", "PAUSED", "PENDING") if numbers.get(one)]
    return [*words, f"{len(held)} held"] if held else words


def location(row: Row) -> str:
    """Return where on a cluster a trial runs, `10.0.0.2:4711`, or ran last, `10.0.0.2`; "" on one machine.

    An address with colons is in brackets: `[fd00::2]:4711`.
    """
    place = f"[{row.node_ip}]" if ":" in row.node_ip else row.node_ip
    if not row.node or place.startswith("127."):
        return ""
    return f"{place}:{row.pid}" if row.pid and Status(row.status).is_placed else place


def not_shown(progress: Progress, shown: Sequence[Row], room: int) -> str:
    """Return how many trials a table does not show, and the command that lists them; "" for none.

    Trials that have not begun do not count.

    Args:
        shown: The trials of the table.
        room: The columns of the screen: a narrow one gets less.
    """
    numbers = progress.counts
    for row in shown:
        numbers[Status(row.status).shown] -= 1
    counted = [
        f"{numbers[one]} {word}"
        for one, word in (
            ("RUNNING", "running"), ("PAUSED", "paused"), ("TERMINATED", "finished"), ("ERROR", "failed"),
        )
        if numbers.get(one, 0) > 0
    ]  # fmt: skip
    n = sum(int(one.split()[0]) for one in counted)
    if not n:
        return ""
    head = f"... {n} more trial{'' if n == 1 else 's'}"
    detail, command = f" ({', '.join(counted)})", f"overtone show {_named(progress.facts.folder)}"
    texts = (f"{head}{detail}: {command} lists all", f"{head}: {command}", f"{head}{detail}")
    return next((text for text in texts if width(text) <= room), texts[-1])


def standing(progress: Progress, seconds: float, rate: float | None = None) -> str:
    """Return the state of the run in one line, for times without ended trials."""
    numbers = progress.counts
    words = [f"{of_total(progress, progress.n_ended)} trials finished"]
    words += unfinished(progress)
    if numbers.get("ERROR"):
        words.append(f"{numbers['ERROR']} failed")
    words.append(results(progress) + (f", {rate:.3g}/s" if rate else ""))
    words.append(f"{duration(seconds)} so far")
    seconds_left = progress.seconds_left()
    words += [f"about {duration(seconds_left)} left"] if seconds_left is not None else []
    waits = progress.facts.waits()
    words += [clean(waits)] if waits else []
    line = ", ".join(words)
    so_far = best(progress)
    return f"{line}  {so_far}" if so_far else line


def beginning(progress: Progress) -> list[str]:
    """Return the first lines of a run: the engine, then the experiment."""
    facts = progress.facts
    total = progress.total
    how_many = "" if total is None else f", {total} trial{'' if total == 1 else 's'}"
    lines = [clean(facts.engine_line)] if facts.engine_line else []
    return [*lines, f"{clean(facts.name)}{how_many}, results in {clean(facts.folder)}"]


def summary(progress: Progress, seconds: float, room: int | None = None) -> list[str]:
    """Return the last lines of a run: how trials ended, the best one, and where to look.

    Args:
        room: The columns of the terminal; None leaves long lines whole.
    """
    facts = progress.facts
    n = len(progress.table.rows)
    trials = f"{n} trial{'' if n == 1 else 's'}"
    lines = [f"{trials}, {results(progress)} in {duration(seconds)}: {counts(progress)}"]
    found = best_lines(progress, room)
    if found:
        lines += found
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
    for line in first_rung(progress):
        lines += [line] if room is None else folded(line, room)
    lines.append(f"results: {clean(facts.folder)}")
    if facts.has_tensorboard and progress.n_results:
        lines.append(f"look at them: tensorboard --logdir {_quoted(facts.folder)}")
    elif facts.lacks_tensorboard and progress.n_results:
        lines.append('TensorBoard files are written after: pip install "overtone[tensorboard]"')
    if progress.n_results:
        lines.append(f"plots and tables in one page: overtone report {_quoted(facts.folder)}")
    return lines


def first_rung(progress: Progress) -> list[str]:
    """Return a line about trials that ended at the first rung, if most did and nobody chose the rung."""
    rungs, settings = progress.rungs, progress.facts.rung_defaults
    if not rungs or not settings:
        return []
    rung = min(rungs)
    n, n_ended = rungs[rung], progress.n_ended
    if rung > settings["grace_period"] or n < 3 or 2 * n <= n_ended:
        return []
    grace_period, max_t, factor = (
        number(settings[name]) for name in ("grace_period", "max_t", "reduction_factor")
    )
    return [
        f"{n} of {n_ended} trials ended at the first rung, {number(rung)}. The defaults are grace_period="
        f"{grace_period}, max_t={max_t} and reduction_factor={factor}: 1 of {factor} trials continues at each"
        " rung. Raise grace_period if early results say little"
    ]


def _named(folder: str) -> str:
    """Return an experiment as commands take it: its name if it is in the folder where they look it up."""
    above, name = os.path.split(folder)
    is_found = above == os.path.expanduser(RESULTS) and not name.startswith("-")
    return _quoted(name if is_found else folder)


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
