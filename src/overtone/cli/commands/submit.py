"""`overtone submit CONFIG SCRIPT -- ARGS`: run a script on a cluster that is started for it."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from overtone.cli.arguments import Arguments, add_dir
from overtone.cli.exit_codes import NotFoundError
from overtone.errors import ArgumentError

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig
    from overtone.cluster.submit import Program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone submit`."""
    parser.add_argument("config", metavar="CONFIG", help="the cluster's config, or a cluster YAML of Ray's")
    about = "the script, in the folder that the config uploads (files)"
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help=about)
    parser.add_argument(
        "arguments", metavar="ARG", nargs="*", help="the script's arguments; options after --"
    )
    parser.add_argument(
        "--start", action="store_true", help="start the cluster if it is not up (it always is started)"
    )
    ending = parser.add_mutually_exclusive_group()
    about = "take the cluster down in the end, even if it was up before"
    ending.add_argument("--stop", action="store_true", help=about)
    ending.add_argument(
        "--keep", action="store_true", help="do not take the cluster down, even if started here"
    )
    parser.add_argument("--detach", action="store_true", help="return once the script runs")
    parser.add_argument(
        "--resume", metavar="EXP", help="upload an interrupted experiment and resume it there"
    )
    add_dir(parser)
    parser.epilog = "overtone submit CONFIG SCRIPT -- ARGS passes all of ARGS to the script."


def run(args: Arguments) -> int:
    """Submit; the exit code is the script's.

    Raises:
        OvertoneError: It is not possible; the message says what is left.
    """
    from overtone.cluster.config_reading import read_config
    from overtone.cluster.interrupts import ask_yes_or_no, can_ask
    from overtone.cluster.provider_modules import provider_of
    from overtone.cluster.run_end import Ending
    from overtone.cluster.submit import program_of, submit

    config = read_config(Path(args.config))
    provider_of(config).check(config)
    experiment = None if args.resume is None else _experiment(args.resume, args.dir)
    if args.script is not None:
        program = program_of(config, args.script, [*args.arguments, *args.rest])
    elif experiment is not None:
        program = recorded_program(config, experiment, args.rest)
    else:
        raise ArgumentError(f"name a script, such as: overtone submit {args.config} train.py")
    ending: Ending = "always" if args.stop else "never" if args.keep else "started"
    return submit(
        config,
        program,
        ending=ending,
        is_detached=args.detach,
        experiment=experiment,
        ask=ask_yes_or_no if can_ask() else None,
    )


def recorded_program(config: ClusterConfig, experiment: Path, more: list[str]) -> Program:
    """Return the recorded command of an experiment, for the head.

    Args:
        more: A command that replaces it, such as ["python", "train.py"].

    Raises:
        NotFoundError: There is no command that could be run again; the message says what to do.
        OvertoneError: Its script is not uploaded.
    """
    from overtone.cli.recorded_command import again, options_and_program
    from overtone.cluster.submit import Program, program_of
    from overtone.cluster.upload import script_place
    from overtone.journal.newest_parts import newest_driver
    from overtone.store.folder_mark import JOURNAL

    facts = newest_driver(experiment / JOURNAL)
    directory = _directory_here(config, str(facts.get("directory", "")))
    rerun = again({**facts, "directory": directory}, str(experiment), more)
    options, words = options_and_program(rerun.command[1:])
    script = words[0] if words else ""
    if script == "-m":
        folder, _ = script_place(config, str(config.source))
        return Program((None, *options, *words), folder, " ".join(words[:2]), tuple(words[2:]))
    found = program_of(config, os.path.join(rerun.directory, script), words[1:])
    return replace(found, words=(None, *options, *found.words[1:]))


def _directory_here(config: ClusterConfig, directory: str) -> str:
    """Return the counterpart here of a folder on a head, for an experiment that came back from one."""
    _, work, below = directory.partition(f"/overtone_work/{config.name}")
    if not work or os.path.isdir(directory) or config.files is None:
        return directory
    return str(Path(config.files, below.lstrip("/")))


def _experiment(name: str, directory: str | None) -> Path:
    """Return the folder of an experiment that can go on.

    Raises:
        NotFoundError: There is none, or it is finished.
    """
    from overtone.cli.lookup import journal_of
    from overtone.run.resume.target import is_finished

    folder = journal_of(name, directory).parent
    if is_finished(folder):
        raise NotFoundError(
            f"{folder} is finished, so there is nothing to resume; to run more trials, submit the script "
            "with a larger num_samples and resume=True"
        )
    return folder
