"""`overtone docs`: the pages of the installed version."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from overtone.cli.arguments import Arguments
from overtone.cli.exit_codes import OK, WRONG


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone docs`."""
    parser.add_argument(
        "page",
        metavar="PAGE",
        nargs="?",
        default="index",
        help='a page, such as "first-search" (the first page)',
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the page's address, and open nothing"
    )


def run(args: Arguments) -> int:
    """Open a page, or say where pages are."""
    from overtone.cli.exit_codes import NotFoundError
    from overtone.ui.server.browser import open_in_browser

    folder = pages()
    if folder is None:
        print(
            f"the pages are not on this machine. In a clone of the repository: make docs\nonline: {address()}"
        )
        return WRONG
    file = folder / f"{args.page}.html"
    if not file.is_file():
        raise NotFoundError(f"there is no page {args.page!r} in {folder}{_nearest(args.page, folder)}")
    print(file.as_uri())
    if not args.no_browser:
        open_in_browser(file.as_uri())
    return OK


def pages() -> Path | None:
    """Return the folder with the pages of this version; None if they are not there.

    A clone has them after `make docs`. A package of a distribution may install them below `share/doc`.
    """
    package = Path(__file__).parents[2]
    places = (
        package.parents[1] / "docs" / "_build" / "html",
        Path(sys.prefix, "share", "doc", "overtone", "html"),
    )
    return next((place for place in places if (place / "index.html").is_file()), None)


def address() -> str:
    """Return the address of the documentation, from the package's metadata."""
    from importlib.metadata import metadata

    lines: list[str] = metadata("overtone").get_all("Project-URL") or []
    return next(line.partition(", ")[2] for line in lines if line.startswith("Documentation, "))


def _nearest(page: str, folder: Path) -> str:
    from overtone.lazy import nearest

    return nearest(
        page, (path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.html"))
    )
