"""`overtone report EXP...`: one HTML file with plots, tables and the story of the best trials."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_dir, add_goal
from overtone.cli.exit_codes import OK

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis, RecordedTrial
    from overtone.reading.columns.trial_columns import TrialColumns

_N_STORIES = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone report`."""
    parser.add_argument(
        "experiments",
        metavar="EXP",
        nargs="+",
        help="its folder, or its name below DIR; several are compared",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the file to write; - for standard output (EXP-report.html)"
    )
    parser.add_argument("--static", action="store_true", help="without script: for print, mail and archives")
    add_dir(parser)
    add_goal(parser)


def run(args: Arguments) -> int:
    """Write the report, and print its path."""
    from overtone.analysis.page.html import page
    from overtone.cli.lookup import journal_of
    from overtone.cli.output_file import open_output
    from overtone.control.overview import overview
    from overtone.observers.display.plain_text import clean
    from overtone.quantity_text import size_text
    from overtone.reading.summary_cache import SummaryCache
    from overtone.ui.report.writing import report

    journals = [journal_of(name, args.dir) for name in args.experiments]
    sections, names, found = [], [], []
    with SummaryCache() as index:
        facts = [overview(journal, index) for journal in journals]
    for journal, fact in zip(journals, facts, strict=True):
        body, columns = _experiment(journal, fact, args.metric, args.mode)
        sections += body
        names.append(journal.parent.name)
        found.append(columns)
    if len(found) > 1:
        sections = [*_comparison(found, args.metric, args.mode), *sections]
    output = args.output or f"{names[0]}-report.html"
    title = f"{', '.join(names)} - Overtone report"
    whole = page(title, sections) if args.static else report(title, sections, journals, facts)
    data = whole.encode("utf-8", "replace")
    with open_output(output, is_binary=True) as file:
        file.write(data)
    if output != "-":
        sys.stderr.write(f"overtone: wrote {clean(output)} ({size_text(len(data))})\n")
    return OK


def _comparison(found: list[TrialColumns], metric: str | None, mode: str | None) -> list[str]:
    from overtone.analysis.page.figures import figure
    from overtone.analysis.page.html import text
    from overtone.analysis.scenes.catalogue import scene_of

    names = ", ".join(columns.name for columns in found)

    scene = scene_of("compare", found, metric=metric, mode=mode)
    return [f"<h1>{len(found)} experiments compared</h1><p class=faint>{text(names)}</p>", figure(scene)]


def _experiment(
    journal: Path, facts: dict[str, Any], metric: str | None, mode: str | None
) -> tuple[list[str], TrialColumns]:
    """Return the sections about one experiment, and its columns."""
    from overtone.analysis.first_goal import with_goal
    from overtone.analysis.page import figures, tables
    from overtone.analysis.scenes.catalogue import page_scenes
    from overtone.cli.lookup import analysis_of
    from overtone.cli.ranking import goal_of
    from overtone.cli.report import experiment
    from overtone.reading.columns.opening import open_columns

    analysis, trials = analysis_of(journal, metric, mode)
    columns = open_columns(journal)
    if metric is None and columns.goals:
        metric, mode = columns.goals[0][0], mode or columns.goals[0][1]
    else:
        metric, mode = goal_of(analysis, metric, mode)
    header = analysis.runner_data()
    sections = [experiment.heading(facts, header)]
    rows = []
    if metric is not None and mode is not None:
        columns = with_goal(columns, metric, mode)
        rows = tables.ranked_rows(columns, metric, mode)[: tables.MOST_BEST].tolist()
    if rows and metric is not None and mode is not None:
        values = columns.metrics[metric]
        row = rows[0]
        way = float(values.best(mode)[row]), int(values.best_t(mode)[row])
        last = float(values.last[row]), int(values.last_t[row])
        sections.append(experiment.best_configuration(trials[row], metric, *last, way))
        sections.append(tables.best_trials(columns, rows, metric, mode))
    sections.append(figures.figures(page_scenes(columns).values()))
    failed = tables.failed_rows(columns)
    first = [trials[row] for row in failed[: tables.MOST_FAILURES].tolist()]
    sections.append(tables.failures(first, len(failed)))
    sections.append(experiment.settings(header))
    if rows:
        best = [trials[row] for row in rows[:_N_STORIES]]
        sections.append(
            "<h2>Story of the best trials</h2>\n" + "\n".join(_stories(best, analysis, metric, mode))
        )
    return sections, columns


def _stories(
    trials: list[RecordedTrial], analysis: ExperimentAnalysis, metric: str | None, mode: str | None
) -> Iterator[str]:
    from overtone.analysis.page import tables
    from overtone.analysis.recorded_trial import index_of
    from overtone.observers.display.plain_text import duration, show
    from overtone.reading.story_text import clock_of, sentence, verdict
    from overtone.reading.trial_story import Story

    clock, standings = clock_of(analysis.runner_data()), None
    for trial in trials:
        story = Story(index_of(trial), trial.trial_id, metric, mode, clock, standings)
        standings = story.standings
        for step in story.steps:
            step.text = step.text or sentence(step, metric)
        steps = [(duration(step.time), show(step.t), step.text) for step in story.steps]
        name = f"{trial.trial_id} (number {trial.index})"
        yield tables.story(name, verdict(story, trial.trial_id, trial.status), steps)
