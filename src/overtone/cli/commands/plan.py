"""`overtone plan CONFIG`: what a cluster would be, what it would cost, and what exists; changes nothing."""

from __future__ import annotations

import argparse
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_json
from overtone.cli.exit_codes import OK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overtone.cluster.config import ClusterConfig
    from overtone.cluster.provider import Resource


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone plan`."""
    parser.add_argument("config", metavar="CONFIG", help="the cluster's config, or a cluster YAML of Ray's")
    parser.add_argument(
        "--show",
        action="store_true",
        help="also print what the provider gets: Ray's YAML, manifests or a script",
    )
    parser.add_argument(
        "--price",
        metavar="[TYPE=]X",
        action="append",
        default=[],
        help="US dollars an hour for a node, or for a node of a machine type; repeatable",
    )
    parser.add_argument(
        "--offline", action="store_true", help="do not ask the provider what exists of the cluster"
    )
    add_json(parser)


def run(args: Arguments) -> int:
    """Print the plan; the exit code is 1 if the config is wrong.

    Raises:
        OvertoneError: The config is wrong.
    """
    import sys
    from pathlib import Path

    from overtone.cli.json_output import write_json
    from overtone.cluster.config_reading import read_config
    from overtone.cluster.plan import make_plan
    from overtone.cluster.plan_text import plan_document, plan_text
    from overtone.cluster.prices import overrides
    from overtone.cluster.provider_modules import provider_of
    from overtone.cluster.shown_form import form_changes, shown_form
    from overtone.cluster.upload import unsafe_upload

    config = read_config(Path(args.config))
    provider_of(config).check(config)
    existing, problem = (None, "--offline") if args.offline else _find(config)
    plan = make_plan(config, "submit", existing, overrides(args.price))
    changes = form_changes(config)
    if args.json:
        document: dict[str, Any] = {**plan_document(plan), "changes": changes}
        if args.show:
            document["form"] = shown_form(config)
        write_json(document)
        return OK
    text = plan_text(plan)
    if problem:
        text = text.replace("exists   unknown", f"exists   unknown: {problem}")
    if unsafe := unsafe_upload(config):
        changes = [f"unsafe   {unsafe}", *changes]
    sys.stdout.write(text + "".join(f"{line}\n" for line in changes))
    if args.show:
        sys.stdout.write("---\n" + shown_form(config))
    return OK


def _find(config: ClusterConfig) -> tuple[Sequence[Resource] | None, str]:
    """Return what exists, or None and the reason why it is unknown."""
    from overtone.cluster.provider_modules import provider_of
    from overtone.errors import OvertoneError

    try:
        with _no_new_records(config):
            return provider_of(config).find(config), ""
    except OvertoneError as error:
        return None, str(error)


@contextmanager
def _no_new_records(config: ClusterConfig) -> Iterator[None]:
    """Let a temporary folder stand in for the cluster's records on this machine, if there are none.

    Connections over SSH record hosts' keys there. The folder is removed when this process ends, after them.
    """
    import atexit
    import os
    from tempfile import TemporaryDirectory

    from overtone.cluster.state import State

    if State(config.name).folder.is_dir():
        yield
        return
    home = TemporaryDirectory(prefix="overtone-plan-")
    atexit.register(home.cleanup)  # before those of connections, which therefore run first
    before = os.environ.get("OVERTONE_HOME")
    os.environ["OVERTONE_HOME"] = home.name
    try:
        yield
    finally:
        del os.environ["OVERTONE_HOME"]
        if before is not None:
            os.environ["OVERTONE_HOME"] = before
