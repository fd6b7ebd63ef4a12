"""`overtone put CONFIG LOCAL REMOTE`: copy files to the head of a cluster."""

from __future__ import annotations

import argparse

from overtone.cli.arguments import Arguments
from overtone.cli.exit_codes import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone put`."""
    parser.add_argument("config", metavar="CONFIG|NAME", help="the cluster's config, or its name")
    parser.add_argument("here", metavar="LOCAL", help="a file or folder on this machine")
    parser.add_argument(
        "there",
        metavar="REMOTE",
        help="a file or folder on the head; below the uploaded files if it is relative",
    )


def run(args: Arguments) -> int:
    """Copy, as `cp -r` does.

    Raises:
        OvertoneError: The head does not answer, or there is no such file.
    """
    from pathlib import Path

    from overtone.cluster.head_files import put
    from overtone.cluster.listing_of_clusters import config_of

    put(config_of(args.config), Path(args.here), args.there)
    return OK
