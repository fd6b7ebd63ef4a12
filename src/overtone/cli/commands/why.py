"""`overtone why EXP TRIAL`: the decisions that led a trial to where it is, and what lay behind them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment, add_goal, add_json
from overtone.cli.exit_codes import OK

if TYPE_CHECKING:
    from overtone.analysis import RecordedTrial
    from overtone.reading.rung_standings import Place
    from overtone.reading.trial_story import Step, Story

_NEIGHBOURS = 3  # competitors that are named on each side
_DECIDED = {"stop": "stopped", "pause": "paused", "restart": "restarted", "save": "told to save"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone why`."""
    add_experiment(parser)
    parser.add_argument("trial", metavar="TRIAL", help="its id, how it begins, or its index")
    add_goal(parser)
    add_json(parser)


def run(args: Arguments) -> int:
    """Tell it."""
    from overtone.analysis.recorded_trial import index_of
    from overtone.cli.lookup import analysis_of, journal_of, trial_id
    from overtone.cli.overview import status_now
    from overtone.cli.ranking import goal_of
    from overtone.cli.run_holder import holder
    from overtone.reading.trial_story import Story

    journal = journal_of(args.experiment, args.dir)
    analysis, trials = analysis_of(journal, args.metric, args.mode)
    wanted = trial_id(args.trial, (one.trial_id for one in trials), journal.parent)
    trial = next(one for one in trials if one.trial_id == wanted)
    metric, mode = goal_of(analysis, args.metric, args.mode)
    story = Story(index_of(trial), wanted, metric, mode, _clock(analysis.runner_data()))
    for step in story.steps:
        step.text = step.text or sentence(step, metric)
    status = status_now(trial.status, holder(journal) is not None)
    if args.json:
        from overtone.cli.json_output import write_json

        write_json(_data(story, trial, status, metric, mode))
    else:
        _show(story, trial, status, metric)
    return OK


def sentence(step: Step, metric: str | None) -> str:
    """Return the decision of a step as text: "stopped by asha at rung 4: loss=3.7 is 3rd of 4"."""
    from overtone.observers.display.plain_text import number

    why = step.why
    at = f" at rung {number(why.rung)}" if why is not None and why.rung is not None else ""
    value = "" if step.value is None or metric is None else f"{metric}={number(step.value)}"
    if step.kind == "passed":
        return (
            f"passed{_rung(at)}: {value or 'no number'}, {ordinal(step.rank or 1)} of {step.of} there by then"
        )
    text = _DECIDED.get(step.decision or "", step.decision or "")
    if step.decision == "continue":
        text = "went on with another config"
    if step.source is not None:
        text += f" from the state of {step.source}"
    if why is None:
        return text
    if why.rule == "stop":
        return f"{text} by its stop condition{': ' + why.note if why.note else ''}"
    text += f" by {why.rule.replace('_', ' ')}{at}"
    parts = []
    if step.rank is not None:
        place = f"{ordinal(step.rank)}{'' if step.of is None else f' of {step.of}'}"
        parts.append(f"{value} is {place}" if value else f"it is {place}")
    elif value and (why.cutoff is not None or why.rung is not None):
        parts.append(value)
    if step.cutoff is not None:
        parts.append(f"it took {number(step.cutoff)} to go on")
    if why.note:
        parts.append(why.note)
    return f"{text}: {'; '.join(parts)}" if parts else text


def ordinal(rank: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, `11th`."""
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def _rung(at: str) -> str:
    return at.replace(" at", "", 1)


def verdict(story: Story, trial: RecordedTrial, status: str) -> str:
    """Return the trial's state and the reason for it, in one sentence."""
    name = trial.trial_id
    last = next(
        (one for one in reversed(story.steps) if one.kind == "ruled" and one.decision != "save"), None
    )
    ended = next((one for one in reversed(story.steps) if one.kind == "ended"), None)
    if ended is not None and (status == "ERROR" or last is None or last.decision != "stop"):
        what = ended.text
    elif last is not None:
        what = f"was {last.text}" if last.decision in _DECIDED else last.text
    else:
        what = {
            "RUNNING": "is running",
            "PENDING": "waits to be started",
            "PAUSED": "is paused",
            "INTERRUPTED": "was running when its driver died: it goes on when the experiment is resumed",
        }.get(status, status.lower())
    return f"{name} {what}."


def unruled(story: Story, status: str) -> str:
    """Return a note on a trial that no scheduler or stopper changed, or else an empty text."""
    if story.is_ruled:
        return ""
    so_far = "" if status in ("TERMINATED", "ERROR") else " so far"
    return f"It was never ruled on{so_far}: no scheduler and no stop condition stopped, paused or changed it."


def _clock(header: dict[str, Any]) -> str:
    parts = header.get("parts")
    scheduler = parts.get("scheduler") if isinstance(parts, dict) else None
    arguments = scheduler.get("arguments") if isinstance(scheduler, dict) else None
    found = arguments.get("time_attr") if isinstance(arguments, dict) else None
    return found if isinstance(found, str) else "training_iteration"


def _show(story: Story, trial: RecordedTrial, status: str, metric: str | None) -> None:
    from overtone.analysis.frames import flatten
    from overtone.cli.tables import say, styled, terminal_columns
    from overtone.cli.trial_rows import parameter_shown
    from overtone.observers.display.plain_text import clean, duration, pad, show

    say(verdict(story, trial, status), "bold")
    nothing = unruled(story, status)
    if nothing:
        say(nothing)
    shown = ", ".join(f"{name}={parameter_shown(one)}" for name, one in flatten(trial.config).items())
    say(f"config: {shown}" if shown else "config: empty")
    say()
    rows = [(duration(one.time), show(one.t), one) for one in story.steps]
    wide = [max([len(title), *map(len, cells)]) for title, cells in _cells(rows)]
    margin = sum(wide) + 4
    print(styled(f"{pad('after', wide[0], True)}  {pad('iter', wide[1], True)}  what", "bold"))
    for after, t, step in rows:
        lines = [step.text, *_competition(step, trial.trial_id, metric)]
        head = f"{pad(after, wide[0], True)}  {pad(t, wide[1], True)}  "
        for i, text in enumerate(lines):
            for line in _wrapped(clean(text), terminal_columns(), margin + 2 * bool(i)):
                print(f"{head}{'  ' * bool(i)}{line}")
                head = " " * margin


def _cells(rows: Sequence[tuple[str, str, Step]]) -> list[tuple[str, list[str]]]:
    return [("after", [row[0] for row in rows]), ("iter", [row[1] for row in rows])]


def _wrapped(text: str, room: int | None, margin: int) -> list[str]:
    from overtone.cli.tables import folded

    return [text] if room is None else folded(text, max(20, room - margin))


def _competition(step: Step, trial_id: str, metric: str | None) -> list[str]:
    """Return lines with the trial's neighbours at the rung: a few better and a few worse trials."""
    why = step.why
    if step.kind != "ruled":
        return []
    if not step.competitors:
        return [f"against {', '.join(why.against)}"] if why is not None and why.against else []
    at = next((i for i, one in enumerate(step.competitors) if one.trial_id == trial_id), None)
    if at is None:
        return []
    better, worse = step.competitors[:at], step.competitors[at + 1 :]
    lines = []
    if better:
        lines.append(f"better: {_named(better[:1] + better[1:][-_NEIGHBOURS + 1 :], len(better))}")
    if worse:
        lines.append(f"not better: {_named(worse[:_NEIGHBOURS], len(worse))}")
    return lines


def _named(places: Sequence[Place], total: int) -> str:
    from overtone.observers.display.plain_text import number

    words = [f"{one.trial_id} {'no number' if one.value is None else number(one.value)}" for one in places]
    more = total - len(places)
    return ", ".join(words) + (f" and {more} more" if more else "")


def _data(
    story: Story, trial: RecordedTrial, status: str, metric: str | None, mode: str | None
) -> dict[str, Any]:
    from overtone.cli.trial_rows import why_data

    fields = ("n", "time", "kind", "text", "t", "decision", "value", "cutoff", "rank", "of", "source")
    return {
        "trial_id": trial.trial_id,
        "status": status,
        "is_ruled": story.is_ruled,
        "verdict": verdict(story, trial, status),
        "metric": metric,
        "mode": mode,
        "config": trial.config,
        "failures": trial.num_failures,
        "steps": [
            {
                **{name: getattr(one, name) for name in fields},
                "why": why_data(one.why) if one.why is not None and one.why.rule else None,
                "rung": one.why.rung if one.why is not None else None,
                "competitors": [
                    {"trial_id": each.trial_id, "t": each.t, "value": each.value} for each in one.competitors
                ],
            }
            for one in story.steps
        ],
    }
