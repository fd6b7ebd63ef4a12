"""`overtone export EXP`: all results in one table, as CSV, JSON or Parquet."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment
from overtone.cli.exit_codes import OK
from overtone.errors import OvertoneError

if TYPE_CHECKING:
    from overtone.analysis import RecordedTrial

FORMATS = ("csv", "json", "parquet")

Rows = Callable[[], Iterable[dict[str, Any]]]
"""Gives all rows, from the first, each time that it is called."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone export`."""
    add_experiment(parser)
    parser.add_argument("--format", choices=FORMATS, help="csv, unless FILE ends with another one's name")
    parser.add_argument("-o", "--output", metavar="FILE", help="write here, not to standard output")
    parser.add_argument("--trials", action="store_true", help="the last result of each trial only")


def run(args: Arguments) -> int:
    """Write the results.

    Raises:
        OvertoneError: It cannot be written so.
    """
    from overtone.cli.lookup import analysis_of, journal_of
    from overtone.observers.display.plain_text import clean

    journal = journal_of(args.experiment, args.dir)
    _, trials = analysis_of(journal)
    kind = args.format or _by_name(args.output)
    if kind == "parquet" and args.output in (None, "-") and sys.stdout.isatty():
        raise OvertoneError("Parquet is not for a terminal: name a file with -o FILE")
    rows = _rows(trials, args.trials)
    with _opened(args.output, is_binary=kind == "parquet") as file:
        count = _WRITERS[kind](rows, file)
    if args.output not in (None, "-"):
        what = "trials" if args.trials else "results"
        text = f"wrote {count} {what} of {journal.parent.name} to {args.output}"
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


@contextmanager
def _opened(output: str | None, is_binary: bool) -> Iterator[IO[Any]]:
    """Standard output, or a file that is there whole in the end, or not at all."""
    if output in (None, "-"):
        yield sys.stdout.buffer if is_binary else sys.stdout
        return
    assert output is not None
    if os.path.isdir(output):
        raise OvertoneError(f"{output} is a folder: name a file in it")
    if not os.path.isdir(os.path.dirname(output) or "."):
        raise OvertoneError(f"there is no folder {os.path.dirname(output)} for {os.path.basename(output)}")
    draft = f"{output}.{os.getpid()}.tmp"
    try:
        how: dict[str, Any] = {"mode": "wb"}
        if not is_binary:
            how = {"mode": "w", "encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
        with open(draft, **how) as file:
            yield file
        os.replace(draft, output)
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
