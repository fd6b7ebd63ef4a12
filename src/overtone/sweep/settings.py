"""A sweep as the arguments of `tune.run`."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.errors import ArgumentError
from overtone.lazy import nearest
from overtone.named import create_scheduler
from overtone.program.arguments import without_interpreter
from overtone.program.hydra_values import swept
from overtone.program.program import Program, command
from overtone.space.categorical import Categorical
from overtone.space.domain import Domain
from overtone.sweep.parameters import first_of_grid, space_of
from overtone.sweep.sweep_file import number, read, whole_number

if TYPE_CHECKING:
    from overtone.schedulers.base import TrialScheduler

_METHODS = {"grid": "random", "random": "random", "bayes": "auto"}
_COMMAND_ARGUMENTS = ("pattern", "tensorboard", "wandb", "hydra", "chdir", "env")
_DEFAULT_COMMAND = ("${env}", "${interpreter}", "${program}", "${args}")
_ETA, _MOST_T = 3, 10**9


@dataclass(frozen=True)
class Sweep:
    """A sweep that can run.

    Attributes:
        program: The trainable.
        arguments: Arguments of `tune.run`.
        target: The metric's value that ends the sweep; None for none.
        description: What the file says about the sweep.
    """

    program: Program
    arguments: dict[str, Any]
    target: float | None = None
    description: str = ""
    path: str = ""


def sweep_of(path: Path | None, words: Sequence[str], given: Mapping[str, Any]) -> Sweep:
    """Return the sweep that a file and a command line describe.

    Args:
        path: The sweep file; None if Hydra's overrides in the command are the space.
        words: The command; empty if the file has it.
        given: Arguments of `tune.run` and `tune.command` from the command line, which take precedence.

    Raises:
        ArgumentError: The file or an argument is invalid.
        MissingPackageError: The file is YAML, and PyYAML is missing.
    """
    file = {} if path is None else read(path)
    own = file.get("overtone") or {}
    if not isinstance(own, Mapping):
        raise ArgumentError(f"{path}: overtone: must be a mapping of arguments, such as {{max_failures: 2}}")
    options = {**own, **{name: value for name, value in given.items() if value is not None}}
    program_options = {name: options.pop(name) for name in _COMMAND_ARGUMENTS if name in options}
    hydra = bool(program_options.get("hydra"))
    given_words = list(words)
    words, overrides = _without_sweeps(words) if hydra else (given_words, {})
    method = str(file.get("method", "random"))
    if method not in _METHODS:
        raise ArgumentError(f"method: {method!r} must be grid, random or bayes{nearest(method, _METHODS)}")
    space: Any = {
        **(space_of(file["parameters"], method == "grid") if "parameters" in file else {}),
        **overrides,
    }
    if not space:
        raise ArgumentError(
            "there is no parameter to search: name a sweep file with parameters"
            + (", or write lr=interval(0.001,0.1) in the command" if hydra else "")
        )
    is_finite = path is None and all(type(one) is Categorical for one in overrides.values())
    if is_finite and "num_samples" not in options:
        method, space = "grid", {name: {"grid_search": one.categories} for name, one in overrides.items()}
    metric, mode, target = _goal(file.get("metric"), options)
    is_wandb = not words and path is not None
    program_options.setdefault("wandb", is_wandb)
    program = command(_command(file, words), metric=metric, **program_options)
    count = options.pop("num_samples", None)
    if count is None and file.get("run_cap") is not None:
        count = whole_number("run_cap", file["run_cap"], 1)
    if method == "grid" and count is not None and count > 0:
        space = first_of_grid(space, count)
        count = 1
    arguments = {
        "config": space, "metric": metric, "mode": mode,
        "num_samples": 1 if method == "grid" else -1 if count is None else count,
        "search_alg": _METHODS[method],
        "scheduler": _scheduler(file.get("early_terminate"), space),
        "name": _name(file, path, program, given_words), "keep_checkpoints_num": 1,
        "raise_on_failed_trial": False, **options,
    }  # fmt: skip
    if isinstance(arguments["scheduler"], Mapping):
        arguments["scheduler"] = _scheduler(arguments["scheduler"], space)
    program.check(_names(space[0] if isinstance(space, list) else space))
    return Sweep(
        program, arguments, target, str(file.get("description") or ""), "" if path is None else str(path)
    )


def _names(space: Mapping[str, Any]) -> dict[str, Any]:
    """Return a space with None for each parameter."""
    return {
        name: _names(one) if isinstance(one, Mapping) and "grid_search" not in one else None
        for name, one in space.items()
    }


def _goal(given: Any, options: dict[str, Any]) -> tuple[Any, Any, float | None]:
    """Return the metric, the mode and the target."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(f"metric: {given!r} must be a mapping, such as {{name: loss, goal: minimize}}")
    facts = given or {}
    goal = facts.get("goal", "minimize")
    if goal not in ("minimize", "maximize"):
        raise ArgumentError(f"metric: goal: {goal!r} must be minimize or maximize")
    metric = options.pop("metric", None) or facts.get("name")
    mode = options.pop("mode", None) or (None if metric is None else goal[:3])
    if metric is not None and not isinstance(metric, str):
        raise ArgumentError(f"metric: name: {metric!r} must be a text, such as loss")
    target = facts.get("target")
    return metric, mode, None if target is None else number("metric: target", target)


def _command(file: Mapping[str, Any], words: Sequence[str]) -> list[str]:
    """Return the template of the command: the command line's, the file's, or W&B's default."""
    program = file.get("program")
    if program is not None and not isinstance(program, str):
        raise ArgumentError(f"program: {program!r} must be the path of a script, such as train.py")
    if words:
        return without_interpreter(words, program)
    listed = file.get("command")
    if listed is None and program is None:
        raise ArgumentError(
            "there is no program to run: add -- python train.py, or program: train.py to the file"
        )
    if isinstance(listed, str):
        listed = listed.split()
    if listed is not None and not isinstance(listed, list):
        raise ArgumentError(
            f"command: {listed!r} must be a list of words, such as [python, train.py, ${{args}}]"
        )
    return without_interpreter([str(word) for word in listed or _DEFAULT_COMMAND], program)


def _scheduler(given: Any, space: Any) -> TrialScheduler | None:
    """Return the scheduler of `early_terminate`: that of W&B, or one of ours by its name."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or "type" not in given:
        raise ArgumentError(
            f"early_terminate: {given!r} must have a type, such as {{type: hyperband, min_iter: 3}}"
        )
    options = {name: value for name, value in given.items() if name != "type"}
    kind = given["type"]
    if kind == "hyperband" and not {"max_t", "time_attr"} & options.keys():
        return _hyperband(options)
    if kind in ("pbt", "pb2") and not {"hyperparam_mutations", "hyperparam_bounds"} & options.keys():
        domains = {name: one for name, one in dict(space).items() if isinstance(one, Domain)}
        if kind == "pbt":
            options["hyperparam_mutations"] = domains
        else:
            options["hyperparam_bounds"] = {
                name: [one.lower, getattr(one, "upper", None)]
                for name, one in domains.items()
                if hasattr(one, "lower")
            }
    if kind == "pbt":
        options.setdefault("time_attr", "training_iteration")
    scheduler: TrialScheduler = create_scheduler(str(kind), **options)
    return scheduler


def _hyperband(options: Mapping[str, Any]) -> TrialScheduler:
    """Return ASHA with the brackets of W&B's hyperband.

    W&B compares at min_iter * eta**k, or at max_iter / eta**k for k = 1 to s.
    """
    check = {"min_iter", "max_iter", "s", "eta", "strict"}
    for name in options:
        if name not in check:
            raise ArgumentError(f"early_terminate: {name!r} is not a key{nearest(str(name), check)}")
    eta = number("early_terminate: eta", options.get("eta", _ETA))
    if eta <= 1:
        raise ArgumentError(f"early_terminate: eta: {options['eta']!r} must be above 1, such as 3")
    wholes = {
        name: whole_number(f"early_terminate: {name}", options[name], 1)
        for name in ("min_iter", "max_iter", "s")
        if name in options
    }
    if "min_iter" in options:
        first, last = wholes["min_iter"], _MOST_T
    elif "max_iter" in options and "s" in options:
        last = wholes["max_iter"]
        bands = [last / eta**k for k in range(1, wholes["s"] + 1) if last / eta**k >= 1]
        first = int(min(bands, default=1))
    else:
        raise ArgumentError("early_terminate: hyperband needs min_iter, or max_iter and s")
    scheduler: TrialScheduler = create_scheduler(
        "asha", time_attr="training_iteration", grace_period=first, max_t=last, reduction_factor=eta,
        stop_last_trials=False,
    )  # fmt: skip
    return scheduler


def _without_sweeps(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Return a Hydra command without its sweeps, and the space that they are."""
    rest: list[str] = []
    space: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        domain = swept(value) if equals and re.fullmatch(r"[+]{0,2}[A-Za-z_][\w./@]*", name) else None
        if domain is None:
            if word not in ("--multirun", "-m") or (word == "-m" and len(rest) < 2):
                rest.append(word)
        else:
            space[name] = domain
    return rest, space


def _name(file: Mapping[str, Any], path: Path | None, program: Program, words: Sequence[str]) -> str:
    """Return the name of the sweep's folder: equal for the same file, so that the sweep resumes.

    Without a file, it is equal for the same command, whose sweeps are the space. A changed grid is another
    sweep: resumed at its nth point, it would leave out the points before that.
    """
    about = os.fspath(path.absolute()) if path is not None else f"{os.getcwd()} {' '.join(words)}"
    if file.get("method") == "grid":
        about += json.dumps(file.get("parameters"), default=str)
    digest = hashlib.sha256(about.encode()).hexdigest()[:6]
    shown = str(file.get("name") or (path.stem if path is not None else program.__name__))
    return f"{re.sub(r'[^A-Za-z0-9_.=+-]+', '_', shown).strip('._') or 'sweep'}_{digest}"
