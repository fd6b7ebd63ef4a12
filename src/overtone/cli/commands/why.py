"""`overtone why EXP TRIAL`: the decisions that led a trial to where it is, and the reasons for them.

`overtone why EXP`: the requests that people made of the experiment.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment, add_goal, add_json
from overtone.cli.exit_codes import OK

if TYPE_CHECKING:
    from pathlib import Path

    from overtone.analysis import RecordedTrial
    from overtone.reading.trial_story import Story, StoryStep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone why`."""
    add_experiment(parser)
    about = "its id, the beginning or end of it, or its index; without it, all requests are shown"
    parser.add_argument("trial", metavar="TRIAL", nargs="?", help=about)
    add_goal(parser)
    add_json(parser)


def run(args: Arguments) -> int:
    """Tell it."""
    from overtone.analysis.recorded_trial import index_of
    from overtone.cli.lookup import analysis_of, journal_of, trial_id
    from overtone.cli.ranking import goal_of
    from overtone.control.holder import holder
    from overtone.control.overview import status_now
    from overtone.reading.story_text import clock_of, sentence
    from overtone.reading.trial_story import Story

    journal = journal_of(args.experiment, args.dir)
    if args.trial is None:
        _show_requests(journal, args.json)
        return OK
    analysis, trials = analysis_of(journal, args.metric, args.mode)
    wanted = trial_id(args.trial, (one.trial_id for one in trials), journal.parent)
    trial = next(one for one in trials if one.trial_id == wanted)
    metric, mode = goal_of(analysis, args.metric, args.mode)
    story = Story(index_of(trial), wanted, metric, mode, clock_of(analysis.runner_data()))
    for step in story.steps:
        step.text = step.text or sentence(step, metric)
    status = status_now(trial.status, holder(journal) is not None)
    if args.json:
        from overtone.cli.json_output import write_json

        write_json(_data(story, trial, status, metric, mode))
    else:
        _show(story, trial, status, metric)
    return OK


def _show_requests(journal: Path, as_json: bool) -> None:
    from overtone.reading.request_story import requests

    found = list(requests(journal))
    if as_json:
        from overtone.cli.json_output import write_json

        fields = ("n", "time", "text")
        write_json(
            [
                {"trial_id": trial_id, **{name: getattr(step, name) for name in fields}}
                for trial_id, step in found
            ]
        )
        return
    from overtone.cli.tables import say, styled
    from overtone.observers.display.plain_text import clean, duration, pad

    if not found:
        say("Nobody asked anything of this experiment. For the decisions on a trial: overtone why EXP TRIAL")
        return
    rows = [(duration(step.time), trial_id, step.text) for trial_id, step in found]
    wide = [max(len(title), *(len(row[i]) for row in rows)) for i, title in enumerate(("after", "trial"))]
    print(styled(f"{pad('after', wide[0], True)}  {pad('trial', wide[1])}  what", "bold"))
    for after, trial_id, text in rows:
        print(f"{pad(after, wide[0], True)}  {pad(clean(trial_id), wide[1])}  {clean(text)}")


def _show(story: Story, trial: RecordedTrial, status: str, metric: str | None) -> None:
    from overtone.analysis.frames import flatten
    from overtone.cli.tables import say, styled, terminal_columns
    from overtone.cli.trial_rows import parameter_shown
    from overtone.observers.display.plain_text import clean, duration, pad, show
    from overtone.reading.story_text import competition, unruled, verdict

    say(verdict(story, trial.trial_id, status), "bold")
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
        lines = [step.text, *competition(step, trial.trial_id)]
        head = f"{pad(after, wide[0], True)}  {pad(t, wide[1], True)}  "
        for i, text in enumerate(lines):
            for line in _wrapped(clean(text), terminal_columns(), margin + 2 * bool(i)):
                print(f"{head}{'  ' * bool(i)}{line}")
                head = " " * margin


def _cells(rows: Sequence[tuple[str, str, StoryStep]]) -> list[tuple[str, list[str]]]:
    return [("after", [row[0] for row in rows]), ("iter", [row[1] for row in rows])]


def _wrapped(text: str, room: int | None, margin: int) -> list[str]:
    from overtone.observers.display.plain_text import folded

    return [text] if room is None else folded(text, max(20, room - margin))


def _data(
    story: Story, trial: RecordedTrial, status: str, metric: str | None, mode: str | None
) -> dict[str, Any]:
    from overtone.cli.trial_rows import why_data
    from overtone.reading.story_text import verdict

    fields = ("n", "time", "kind", "text", "t", "decision", "value", "cutoff", "rank", "of", "source")
    return {
        "trial_id": trial.trial_id,
        "status": status,
        "is_ruled": story.is_ruled,
        "verdict": verdict(story, trial.trial_id, status),
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
                    {"trial_id": each.trial_id, "t": each.t, "value": each.value}
                    for each in one.competitors or ()
                ],
            }
            for one in story.steps
        ],
    }
