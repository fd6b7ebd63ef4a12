"""`overtone demo`: a search to look at, to kill and to steer, without a script or a data set."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib.util import find_spec
from itertools import count
from pathlib import Path

from overtone.cli.arguments import Arguments, add_dir

PACKAGES = ("starlette", "uvicorn")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone demo`."""
    parser.add_argument(
        "--no-browser", action="store_true", help="print the page's address, and open nothing"
    )
    parser.add_argument("--trials", metavar="N", type=_positive, help="the number of networks (60)")
    about = "passes over the images between two reports (38 on two cores, more on more)"
    parser.add_argument("--passes", metavar="N", type=_positive, help=about)
    add_dir(parser)


def run(args: Arguments) -> int:
    """Run the demo until its search is over, or until Ctrl-C."""
    from overtone.cli.lookup import results_folder
    from overtone.demo.supervisor import run_demo
    from overtone.standard_streams import say

    with_page = all(find_spec(package) is not None for package in PACKAGES)
    if not with_page:
        say('the page needs the extra ui: pip install "overtone[ui]"; the search runs in the terminal')
    folder = new_folder(results_folder(args.dir))
    waits = sys.stdout is not None and sys.stdout.isatty()
    browser = _browser() if with_page and not args.no_browser else None
    options = [
        word
        for name in ("trials", "passes")
        if (value := getattr(args, name)) is not None
        for word in (f"--{name}", str(value))
    ]
    return run_demo(folder, with_page, browser, waits, options)


def new_folder(results: Path) -> Path:
    """Make the folder of a new demo below `results`, and return it."""
    from datetime import datetime

    name = f"overtone_demo_{datetime.now():%Y-%m-%d_%H-%M-%S}"
    for number in count(1):
        folder = results / (name if number == 1 else f"{name}_{number}")
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            continue
    raise AssertionError  # `count` does not end


def _browser() -> Callable[[str], bool]:
    from overtone.ui.server.browser import open_in_browser

    return open_in_browser


def _positive(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
