"""`overtone export EXP`: all results in one table, as CSV, JSON or Parquet, or as a study of Optuna."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment, add_goal
from overtone.cli.exit_codes import OK
from overtone.errors import OvertoneError

if TYPE_CHECKING:
    from pathlib import Path

    from overtone.analysis import ExperimentAnalysis, RecordedTrial

FORMATS = ("csv", "json", "parquet")
STUDY = "optuna"
"""The format of a SQLite file with a study, not of a table."""

Rows = Callable[[], Iterable[dict[str, Any]]]
"""Gives all rows, from the first, each time that it is called."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone export`."""
    add_experiment(parser)
    about = "the format (by the suffix of FILE, else csv); optuna writes a new SQLite file with a study"
    parser.add_argument("--format", choices=(*FORMATS, STUDY), help=about)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    parser.add_argument("--trials", action="store_true", help="the last result of each trial only")
    add_goal(parser)


def run(args: Arguments) -> int:
    """Write the results.

    Raises:
        OvertoneError: It cannot be written so.
    """
    from overtone.cli.lookup import analysis_of, journal_of
    from overtone.cli.output_file import open_output
    from overtone.observers.display.plain_text import clean

    journal = journal_of(args.experiment, args.dir)
    analysis, trials = analysis_of(journal, args.metric, args.mode, on_demand=False)
    if args.format == STUDY:
        return _write_study(args, journal, analysis, trials)
    kind = args.format or _by_name(args.output)
    if kind == "parquet" and args.output in (None, "-") and sys.stdout.isatty():
        raise OvertoneError("Parquet is not for a terminal: name a file with -o FILE")
    rows = _rows(trials, args.trials)
    with open_output(args.output, is_binary=kind == "parquet") as file:
        count = _WRITERS[kind](rows, file)
    if args.output not in (None, "-"):
        what = "trials" if args.trials else "results"
        text = f"wrote {count} {what} of {journal.parent.name} to {args.output}"
        sys.stderr.write(f"overtone: {clean(text)}\n")
    return OK


def _write_study(
    args: Arguments, journal: Path, analysis: ExperimentAnalysis, trials: Sequence[RecordedTrial]
) -> int:
    """Write a study of Optuna.

    Raises:
        OvertoneError: No file or no objective is named, or the file exists.
    """
    from overtone.cli.ranking import goal_needed
    from overtone.core.goal import Goal
    from overtone.importers.optuna.study_file import write_study
    from overtone.observers.display.plain_text import clean
    from overtone.quantity_text import count_text

    if args.output in (None, "-"):
        raise OvertoneError("a study of Optuna is a file: name it with -o FILE, such as -o study.db")
    header = analysis.runner_data()
    parts = header.get("parts", {})
    metric, mode = (args.metric, args.mode) if args.metric else (parts.get("metric"), parts.get("mode"))
    if not metric:
        metric, mode = goal_needed(analysis, None, args.mode)
    goal = Goal(metric, mode, constraints=parts.get("constraints") or ())
    count = write_study(args.output, journal.parent.name, header, goal, trials)
    name = journal.parent.name
    text = f"wrote {count_text(count, 'trial')} of {name} to the study {name} in {args.output}"
    sys.stderr.write(f"overtone: {clean(text)}\n")
    return OK


def _by_name(output: str | None) -> str:
    ending = os.path.splitext(output or "")[1].lower().lstrip(".")
    return {"pq": "parquet"}.get(ending, ending) if ending in (*FORMATS, "pq") else "csv"


def _rows(trials: Sequence[RecordedTrial], is_last_only: bool) -> Rows:
    def each() -> Iterator[dict[str, Any]]:
        for trial in trials:
            if is_last_only:
                last = trial.last_result or trial.facts()
                yield {
                    "trial_id": trial.trial_id,
                    **last,
                    "status": trial.status,
                    "error": trial.error or None,
                }
            else:
                yield from ({"trial_id": trial.trial_id, **one} for one in trial.results())

    return each


def _write_csv(rows: Rows, file: IO[Any]) -> int:
    import csv

    from overtone.analysis.frames import flatten
    from overtone.observers.display.plain_text import clean

    columns = list(dict.fromkeys(name for row in rows() for name in flatten(row)))
    cleaned = clean if file.isatty() else str
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(cleaned, columns))
    count = 0
    for row in rows():
        flat = flatten(row)
        writer.writerow([_cell(flat.get(name), cleaned) for name in columns])
        count += 1
    return count


def _cell(value: Any, cleaned: Callable[[str], str]) -> Any:
    """Return a value in a table: nothing for None, JSON for lists, "nan" and "inf" as Python writes them."""
    if value is None:
        return ""
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, (list, tuple, dict)):
        from overtone.cli.json_output import line_of

        return line_of(value)
    return value


def _write_json(rows: Rows, file: IO[Any]) -> int:
    from overtone.cli.json_output import line_of

    count = 0
    for row in rows():
        file.write(f"{',' if count else '['}\n{line_of(row)}")
        count += 1
    file.write("\n]\n" if count else "[]\n")
    return count


def _write_parquet(rows: Rows, file: IO[Any]) -> int:
    from overtone.errors import MissingPackageError

    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingPackageError("pyarrow", "parquet", "Parquet") from None
    columns = typed_columns(rows())
    table = pa.table({name: pa.array(cells, kind) for name, (kind, cells) in columns.items()})
    pq.write_table(table, file)
    return int(table.num_rows)


def typed_columns(rows: Iterable[dict[str, Any]]) -> dict[str, tuple[str, list[Any]]]:
    """Return each column's type, as Arrow calls it, and its cells; what is mixed or nested becomes text."""
    from overtone.analysis.frames import flatten
    from overtone.cli.json_output import line_of

    cells: dict[str, list[Any]] = {}
    count = 0
    for row in rows:
        for name, value in flatten(row).items():
            column = cells.setdefault(name, [])
            column.extend([None] * (count - len(column)))
            column.append(value)
        count += 1
    typed: dict[str, tuple[str, list[Any]]] = {}
    for name, column in cells.items():
        column.extend([None] * (count - len(column)))
        kind = _kind(column)
        if kind == "string":
            column = [
                None if one is None else one if isinstance(one, str) else line_of(one) for one in column
            ]
            column = [
                None if one is None else one.encode(errors="backslashreplace").decode() for one in column
            ]
        typed[name.encode(errors="backslashreplace").decode()] = (kind, column)
    return typed


def _kind(cells: Sequence[Any]) -> str:
    kinds = {type(one) for one in cells if one is not None}
    if not kinds:
        return "null"
    if kinds == {bool}:
        return "bool"
    if kinds == {int} and all(one is None or -(1 << 63) <= one < 1 << 63 for one in cells):
        return "int64"
    is_exact = all(type(one) is not int or abs(one) <= 1 << 53 for one in cells)
    if kinds <= {int, float} and is_exact:
        return "float64"
    return "string"


_WRITERS: dict[str, Callable[[Rows, IO[Any]], int]] = {
    "csv": _write_csv,
    "json": _write_json,
    "parquet": _write_parquet,
}
