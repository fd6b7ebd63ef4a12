"""`overtone attach CONFIG [RUN]`: show a run on a cluster, and bring its results back."""

from __future__ import annotations

import argparse

from overtone.cli.arguments import Arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone attach`."""
    parser.add_argument("config", metavar="CONFIG|NAME", help="the cluster's config, or its name")
    parser.add_argument("run_id", metavar="RUN", nargs="?", help="the run (the newest)")
    parser.add_argument("--all", action="store_true", help="show the whole log, not only its last 64 kB")


def run(args: Arguments) -> int:
    """Show the run until its end; the exit code is the script's.

    Raises:
        OvertoneError: There is no such run, or the head does not answer.
    """
    from overtone.cluster.attach import attach
    from overtone.cluster.listing_of_clusters import config_of

    return attach(config_of(args.config), args.run_id, shows_all=args.all)
