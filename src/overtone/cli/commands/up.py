"""`overtone up c.yaml`: start a cluster, or what is missing of it."""

from __future__ import annotations

import argparse
from pathlib import Path

from overtone.cli.arguments import Arguments, add_json
from overtone.cli.exit_codes import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone up`."""
    parser.add_argument("config", metavar="CONFIG", help="the cluster's config: a YAML file")
    add_json(parser)


def run(args: Arguments) -> int:
    """Start the cluster, and print how to use it."""
    from overtone.cluster.apply import summary, up
    from overtone.cluster.config_reading import read_config
    from overtone.cluster.interrupts import ask_yes_or_no, can_ask
    from overtone.cluster.progress import Progress

    config = read_config(Path(args.config))
    progress = Progress(is_quiet=args.json)
    has_started = up(config, progress, ask=ask_yes_or_no if can_ask() else None)
    if args.json:
        from overtone.cli.json_output import write_json
        from overtone.cluster.listing_of_clusters import facts_of
        from overtone.cluster.state import State

        write_json({**facts_of(State(config.name)), "started": has_started})
        return OK
    what = "is up" if has_started else "was up already"
    end = f"to take it down: overtone down {args.config}"
    progress.end(f"cluster {config.name} {what}; {summary(config)}{end}")
    return OK
