"""`overtone sweep FILE -- COMMAND`: search the parameters of a program that knows nothing of Overtone."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from overtone.cli.arguments import Arguments
from overtone.cli.exit_codes import OK, WRONG, NotFoundError

_EPILOG = """\
COMMAND may have {name} for a parameter, and {trial_id}, {trial_dir}, {checkpoint_dir}, {experiment} and
{seed}. Without placeholders each parameter is added as --name=value. Without a command, the program or
command of the file runs, as under `wandb agent`. Run the same line again to resume the sweep.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone sweep`."""
    parser.usage = "overtone sweep [options] [FILE] [-- COMMAND ...]"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="the sweep file: YAML, JSON or TOML, as W&B has it"
    )
    parser.add_argument(
        "-n", "--trials", type=_count, metavar="N", help="number of trials (run_cap of the file)"
    )
    parser.add_argument("--name", help="the experiment's folder below DIR (made from the file's path)")
    parser.add_argument("--dir", metavar="DIR", help="folder or URL of all experiments (~/overtone_results)")
    parser.add_argument("--metric", help="the metric to optimise (metric: name: of the file)")
    parser.add_argument("--mode", choices=("max", "min"), help="whether a higher or a lower value is better")
    about = "regular expression whose named groups are metrics, for lines that are printed; may be repeated"
    parser.add_argument("--pattern", action="append", metavar="REGEX", help=about)
    about = "folder of the program's event files, such as {trial_dir}/events"
    parser.add_argument("--tensorboard", metavar="FOLDER", help=about)
    about = "read what the program logs to W&B, and give wandb.config its parameters"
    parser.add_argument("--wandb", action="store_true", default=None, help=about)
    about = "add parameters as Hydra's overrides; lr=interval(0.1,1) in the command is a parameter"
    parser.add_argument("--hydra", action="store_true", default=None, help=about)
    parser.add_argument("--chdir", action="store_true", default=None, help="run each trial in its own folder")
    about = "resources of a trial, such as cpu=2,gpu=0.5,memory=2GB (cpu=1)"
    parser.add_argument("--resources", type=_resources, metavar="AMOUNTS", help=about)
    parser.add_argument("--max-concurrent", type=_count, metavar="N", help="largest number of trials at once")
    parser.add_argument(
        "--scheduler", metavar="NAME", help="asha, median, hyperband, ... (early_terminate of the file)"
    )
    parser.add_argument("--search", metavar="NAME", help="auto, sobol, optuna, ... (method of the file)")
    parser.add_argument("--seed", type=int, help="seed of all random choices")
    parser.add_argument("--max-failures", type=_count, metavar="N", help="retries of a failed trial (0)")
    parser.add_argument("--time-budget", type=float, metavar="S", help="seconds of the whole sweep")
    parser.add_argument("--grace", type=float, metavar="S", help="seconds from SIGTERM to SIGKILL (9)")
    parser.add_argument("--agents-only", action="store_true", help="run no trial on this machine")
    about = "join the sweep EXP, a folder or URL that this machine shares, and run trials for it here"
    parser.add_argument("--agent", metavar="EXP", help=about)
    parser.add_argument("--cpus", type=float, metavar="N", help="CPUs for trials on this machine (all)")
    parser.add_argument("--gpus", type=int, metavar="N", help="GPUs for trials on this machine (all)")
    about = "seconds that an agent waits for a driver, such as for a resume (600)"
    parser.add_argument("--wait", type=float, default=600.0, metavar="S", help=about)
    about = "as an agent, also run commands that another user wrote into the folder"
    parser.add_argument("-y", "--yes", action="store_true", help=about)
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--fresh", action="store_true", help="start over; an earlier sweep is moved aside")
    begin.add_argument(
        "--retry", action="store_true", help="also run failed trials again, from their checkpoints"
    )
    parser.add_argument(
        "-v", "--verbose", type=int, default=None, metavar="0-3", help="how much is shown (2)"
    )


def run(args: Arguments) -> int:
    """Run the sweep, or resume it.

    Raises:
        NotFoundError: Nothing says what to run.
    """
    if args.agent is not None:
        return _join(args)
    from overtone.sweep.run import run as run_sweep
    from overtone.sweep.settings import sweep_of

    if args.file is None and not (args.hydra and args.rest):
        raise NotFoundError(
            "there is no sweep file: overtone sweep sweep.yaml -- python train.py --lr {lr}; or, with Hydra: "
            "overtone sweep --hydra --metric loss -- python train.py 'lr=interval(0.001,0.1)'"
        )
    given: dict[str, Any] = {
        "num_samples": args.trials, "name": args.name, "storage_path": args.dir, "metric": args.metric,
        "mode": args.mode, "pattern": args.pattern, "tensorboard": args.tensorboard, "wandb": args.wandb,
        "hydra": args.hydra, "chdir": args.chdir, "resources_per_trial": args.resources,
        "max_concurrent_trials": args.max_concurrent, "scheduler": args.scheduler, "search_alg": args.search,
        "seed": args.seed, "max_failures": args.max_failures, "time_budget_s": args.time_budget,
        "grace_s": None if args.grace is None else args.grace + 1, "verbose": args.verbose,
    }  # fmt: skip
    from overtone.sweep.engine import WithAgents

    given["engine"] = WithAgents(not args.agents_only, args.cpus, args.gpus)
    sweep = sweep_of(None if args.file is None else Path(args.file), args.rest, given)
    analysis = run_sweep(sweep, False if args.fresh else "AUTO+ERRORED" if args.retry else "AUTO")
    trials = analysis.trials
    return WRONG if trials and all(trial.status == "ERROR" for trial in trials) else OK


def _join(args: Arguments) -> int:
    """Be an agent of a sweep.

    Raises:
        NotFoundError: There is no such sweep.
    """
    from overtone.cli.lookup import journal_of
    from overtone.store.files import is_url
    from overtone.sweep.agent import serve

    place = args.agent if is_url(args.agent) else str(journal_of(args.agent, args.dir).parent)
    return serve(place, args.cpus, args.gpus, args.wait, args.yes)


def _count(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")


def _resources(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, amount = part.partition("=")
        if not equals or not name.strip():
            raise argparse.ArgumentTypeError(f"{text!r} must be amounts such as cpu=2,gpu=0.5,memory=2GB")
        try:
            found[name.strip()] = json.loads(amount)
        except ValueError:
            found[name.strip()] = amount.strip()
    return found
