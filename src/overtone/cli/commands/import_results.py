"""`overtone import SRC`: make an experiment of another tuner's results."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_json
from overtone.cli.exit_codes import OK

if TYPE_CHECKING:
    from overtone.importers.import_results import Imported
    from overtone.importers.recorder import Counts

_WAIT_S, _EVERY_S = 1.0, 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone import`."""
    about = "a storage of Optuna (file or URL), a folder of Ray Tune or Syne Tune, or a table (.csv, .tsv)"
    parser.add_argument("source", metavar="SRC", help=about)
    parser.add_argument("--name", metavar="NAME", help="the experiment's name (the study's or the folder's)")
    parser.add_argument(
        "--study", metavar="STUDY", help="the study to import, if a storage of Optuna has several"
    )
    about = "the columns of a table that are hyperparameters"
    parser.add_argument("--params", metavar="A,B", type=_names, default=(), help=about)
    about = "the metrics to rank by (the metrics of the source)"
    parser.add_argument("--metric", metavar="M,N", type=_names, default=(), help=about)
    about = "whether a higher or a lower value is better, for each metric"
    parser.add_argument("--mode", metavar="max|min", type=_modes, default=(), help=about)
    parser.add_argument(
        "--dir", metavar="DIR", help="where the experiment's folder is made (~/overtone_results)"
    )
    add_json(parser)


def run(args: Arguments) -> int:
    """Import, and say what was imported and what was not.

    Raises:
        OvertoneError: It cannot be imported; nothing is left behind.
    """
    from overtone.cli.lookup import results_folder
    from overtone.importers.import_results import import_results
    from overtone.importers.sources import Choices
    from overtone.reading.progress_line import ProgressLine

    choices = Choices(args.study, args.metric, args.mode, args.params)
    with ProgressLine(_WAIT_S, _EVERY_S) as line:

        def progress(counts: Counts, total: int) -> None:
            if line.is_due:
                of = f" of {total:,}" if total else ""
                line.show(f"importing: {counts.n_trials:,}{of} trials, {counts.n_results:,} results")

        def on_line(n: int) -> None:
            if line.is_due:
                line.show(f"reading: {n:,} operations")

        results = results_folder(args.dir)
        found = import_results(args.source, results, args.name, choices, progress, on_line)
    if args.json:
        from overtone.cli.json_output import write_json

        write_json(_data(found))
    else:
        _show(found)
    return OK


def _show(found: Imported) -> None:
    from shlex import quote

    from overtone.cli.tables import say

    counts = found.counts
    trials = f"{counts.n_trials:,} trial{'s' * (counts.n_trials != 1)}"
    results = f"{counts.n_results:,} result{'s' * (counts.n_results != 1)}"
    say(f"imported {trials} with {results} from {found.tuner}: overtone show {quote(str(found.folder))}")
    if found.lost:
        say(f"not carried over: {'; '.join(found.lost)}", "yellow")


def _data(found: Imported) -> dict[str, Any]:
    return {
        "path": str(found.folder),
        "tuner": found.tuner,
        "trials": found.counts.n_trials,
        "results": found.counts.n_results,
        "not_carried_over": list(found.lost),
    }


def _names(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(",") if one.strip())


def _modes(text: str) -> tuple[str, ...]:
    names = _names(text)
    if not names or any(one not in ("max", "min") for one in names):
        raise argparse.ArgumentTypeError(f"{text!r} must be max or min, for each metric")
    return names
