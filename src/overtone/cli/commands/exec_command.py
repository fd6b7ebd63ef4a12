"""`overtone exec CONFIG COMMAND...`: run a command on the head of a cluster."""

from __future__ import annotations

import argparse

from overtone.cli.arguments import Arguments
from overtone.errors import ArgumentError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone exec`."""
    parser.add_argument("config", metavar="CONFIG|NAME", help="the cluster's config, or its name")
    about = "the command; one argument is shell text, such as 'nvidia-smi | head'"
    parser.add_argument("words", metavar="COMMAND", nargs=argparse.REMAINDER, help=about)


def run(args: Arguments) -> int:
    """Run the command; the exit code is the command's.

    Raises:
        OvertoneError: The head does not answer.
    """
    from overtone.cluster.head_files import execute
    from overtone.cluster.listing_of_clusters import config_of

    words = [*args.words, *args.rest]
    if not words:
        raise ArgumentError(f"name a command, such as: overtone exec {args.config} ray status")
    return execute(config_of(args.config), words)
