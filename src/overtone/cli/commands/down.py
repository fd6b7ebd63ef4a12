"""`overtone down c.yaml`: take a cluster down, and verify that nothing is left."""

from __future__ import annotations

import argparse

from overtone.cli.arguments import Arguments, add_json
from overtone.cli.exit_codes import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone down`."""
    about = "the cluster's config, or the name of a cluster that this machine knows"
    parser.add_argument("config", metavar="CONFIG|NAME", help=about)
    parser.add_argument(
        "--without-results",
        action="store_true",
        help="kill runs that go on, and leave results that no command has brought",
    )
    parser.add_argument(
        "--gone",
        metavar="HOST",
        action="append",
        default=[],
        help="a host that is gone for good: nothing is ended or looked up there; may be given several times",
    )
    add_json(parser)


def run(args: Arguments) -> int:
    """Let runs end and bring their results, take the cluster down, and print what it cost."""
    from overtone.cluster.apply import down, summary
    from overtone.cluster.interrupts import ask_yes_or_no, can_ask
    from overtone.cluster.last_results import bring_last_results
    from overtone.cluster.listing_of_clusters import config_of
    from overtone.cluster.progress import Progress

    config = config_of(args.config)
    progress = Progress(is_quiet=args.json)
    ask = ask_yes_or_no if can_ask() else None
    if not args.without_results and not bring_last_results(config, progress, ask):
        progress.end(f"cluster {config.name} stays up")
        return OK
    down(config, progress, gone=args.gone)
    if args.json:
        from overtone.cli.json_output import write_json
        from overtone.cluster.listing_of_clusters import facts_of
        from overtone.cluster.state import State

        write_json(facts_of(State(config.name)))
    else:
        progress.end(f"cluster {config.name} is down; {summary(config)}nothing is left of it")
    return OK
