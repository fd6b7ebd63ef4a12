"""`overtone ls`: the experiments in a folder, the newest first."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from overtone.cli.arguments import Arguments, add_json, positive
from overtone.cli.exit_codes import OK, NotFoundError
from overtone.errors import StorageError

_WIDEST_NAME = 48
_WIDEST_METRIC = 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone ls`."""
    parser.add_argument("directory", metavar="DIR", nargs="?", help="the folder (~/overtone_results)")
    parser.add_argument("-n", type=positive, metavar="N", help="the newest N only; 0: all")
    add_json(parser)


def run(args: Arguments) -> int:
    """List the experiments, including damaged ones."""
    from overtone.cli.json_output import write_json
    from overtone.cli.lookup import results_folder
    from overtone.store.files import is_url

    if args.directory is not None and is_url(args.directory):
        folder, journals = args.directory, _fetched(args.directory)
    else:
        folder = results_folder(args.directory)
        journals = _journals(folder, is_asked=args.directory is not None)
    found = sorted(_overviews(journals), key=lambda one: (one["started"] or "", one["name"]), reverse=True)
    if args.n:
        found = found[: args.n]
    if args.json:
        write_json(found)
    elif found:
        _show(found)
    else:
        _say_none(folder)
    return OK


def _journals(folder: Path, is_asked: bool) -> list[Path]:
    from overtone.cli.lookup import experiment_names
    from overtone.store.folder_mark import JOURNAL

    if not folder.is_dir():
        if is_asked:
            raise NotFoundError(f"there is no folder {folder}")
        return []
    own = [folder / JOURNAL] if (folder / JOURNAL).is_file() else []
    return [*own, *(folder / name / JOURNAL for name in experiment_names(folder))]


def _fetched(url: str) -> list[Path]:
    """Return the journals of the experiments at a URL, brought to this machine."""
    from overtone.cli.lookup import journal_of
    from overtone.store.files import RemoteFiles

    try:
        names = RemoteFiles(url).folders()
    except StorageError as error:
        raise NotFoundError(str(error)) from None
    found = []
    for name in names:
        try:
            found.append(journal_of(f"{url.rstrip('/')}/{name}"))
        except NotFoundError:  # a folder of something else
            continue
    return found


def _overviews(journals: list[Path]) -> list[dict[str, Any]]:
    from overtone.control.overview import damaged, overview
    from overtone.reading.summary_cache import SummaryCache

    found = []
    with SummaryCache() as index:
        for journal in journals:
            try:
                found.append(overview(journal, index, watches=False))
            except Exception as error:  # one bad folder must not hide the others
                found.append(damaged(journal, error))
    return found


def _show(found: list[dict[str, Any]]) -> None:
    from overtone.cli.json_output import at_home
    from overtone.cli.tables import TableColumn, say, show_table
    from overtone.observers.display.plain_text import cut, duration
    from overtone.quantity_text import size_text

    columns = [
        TableColumn("name"),
        TableColumn("state"),
        TableColumn("trials", keep=7, least=18),
        TableColumn("best last value", keep=6),
        TableColumn("started", keep=3),
        TableColumn("ran for", right=True, keep=4),
        TableColumn("size", right=True, keep=2),
        TableColumn("trainable", keep=1, least=8),
    ]
    rows = []
    for one in found:
        best = one["best"]
        rows.append([
            cut(one["name"], _WIDEST_NAME),
            one["state"],
            _trials(one) if one["error"] is None else "",
            "" if best is None else f"{cut(one['metric'], _WIDEST_METRIC)}={best['value']:.4g}",
            at_home(one["started"]),
            "" if one["duration_s"] is None else duration(one["duration_s"]),
            "" if one["size_bytes"] is None else size_text(one["size_bytes"]),
            one["trainable"],
        ])  # fmt: skip
    show_table(columns, rows)
    for one in found:
        if one["error"] is not None:
            say(f"{one['name']}: {one['error']}", "red")


def _trials(one: dict[str, Any]) -> str:
    """Return the counts of trials, such as `5/12 done, 2 cut off`; the rest is pending."""
    from overtone.control.overview import counted

    others = {name: count for name, count in one["statuses"].items() if name not in ("TERMINATED", "PENDING")}
    total = max(one["trials"], one["planned"] or 0)
    if not total:
        return "none"
    done = one["statuses"].get("TERMINATED", 0)
    text = f"{done} done" if done == total else f"{done}/{total} done"
    return f"{text}, {counted(others)}" if others else text


def _say_none(folder: Path | str) -> None:
    import sys

    from overtone.observers.display.plain_text import clean

    sys.stderr.write(f"overtone: no experiments in {clean(folder)}\n")
