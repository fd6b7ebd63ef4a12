"""`tune.command`: a program as a trainable."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from overtone.errors import ArgumentError
from overtone.program.arguments import FACTS, filled, without_interpreter
from overtone.program.at_agent import AGENT, run_there, task_name
from overtone.program.child import Child, why_not
from overtone.program.run import Sources, Trial, run
from overtone.program.text_metrics import TextMetrics
from overtone.worker.session import parent_trial as names
from overtone.worker.session.current import current
from overtone.worker.session.session import Session
from overtone.worker.working_directory import ORIGINAL

OWN_FILE = ".overtone.json"

CHECKPOINT = "program_checkpoint"
"""The folder in the trial's folder that a program saves to and restores from."""


@dataclass(frozen=True)
class Program:
    """A trainable that runs a program; see `command`, whose arguments are the attributes."""

    words: tuple[str, ...]
    metrics: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    event_folder: str | None = None
    reads_wandb: bool = False
    hydra: bool = False
    directory: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def __name__(self) -> str:
        """The name of the program, such as "train" for `python train.py`."""
        names = [os.path.basename(word) for word in self.words if re.fullmatch(r"[\w./][\w./-]*", word)]
        script = next((name for name in names if not name.startswith(("python", "env"))), "program")
        return script.removesuffix(".py").rpartition(".")[2] or "program"

    def __call__(self, config: dict[str, Any]) -> None:
        """Run the program for the trial of this process."""
        session = current()
        facts: dict[str, Any] = {
            "trial_id": session.get_trial_id(), "trial_dir": session.get_trial_dir(),
            "experiment": session.get_experiment_name(), "seed": session.get_trial_seed(),
        }  # fmt: skip
        folder = Path(facts["trial_dir"], CHECKPOINT)
        agent, _, run_id = os.environ.get(AGENT, "").partition(":")
        if agent:
            task = task_name(agent, session.get_trial_id(), session.attempt, run_id)
            run_there(asdict(self), session, config, facts, task, _SessionTrial(session).write)
            return
        restore(folder, session.checkpoint)
        grace_s = max(session.grace_s - 1, session.grace_s / 2)  # the engine kills the trial at its own
        self.run(_SessionTrial(session), config, facts, folder, session.iteration, grace_s)

    def run(
        self, trial: Trial, config: dict[str, Any], facts: dict[str, Any], checkpoint_folder: Path,
        iteration: int, grace_s: float,
    ) -> None:  # fmt: skip
        """Run the program to its end; see `overtone.program.run`.

        Args:
            facts: The trial's id, folder, experiment and seed, by the names of `FACTS`.
            iteration: Number of results so far.
        """
        facts = {**facts, "checkpoint_dir": str(checkpoint_folder)}
        home = Path(facts["trial_dir"])
        json_file = home / "args.json"
        if any("${args_json_file}" in word for word in self.words):
            json_file.write_text(json.dumps(config, default=str), "utf-8")
        words = filled(self.words, config, facts, str(json_file), self.hydra)
        directory = self.directory or str(home)
        events = None
        if self.event_folder is not None:
            place = filled([self.event_folder], {}, facts, "", False)[0]
            events = Path(directory, place)
        sources = Sources(self.metrics, self.patterns, events, home if self.reads_wandb else None)
        environment = {**self._environment(config, facts, iteration), **self.environment}
        run(trial, words, environment, directory, checkpoint_folder, sources, grace_s, not iteration)

    def check(self, names: Mapping[str, Any]) -> None:
        """Raise an ArgumentError if the program is not there, or its placeholders do not fit.

        Args:
            names: A config, whose values do not matter.
        """
        filled(self.words, names, dict.fromkeys(FACTS, ""), "", self.hydra)
        problem = why_not(
            [word for word in self.words if word != "/usr/bin/env"], self.directory or os.getcwd()
        )
        if problem:
            raise ArgumentError(problem)

    def _environment(
        self, config: Mapping[str, Any], facts: Mapping[str, Any], iteration: int
    ) -> dict[str, str]:
        given = {name: value for name, value in os.environ.items() if name != ORIGINAL}
        given |= {
            "PYTHONUNBUFFERED": "1",
            names.TRIAL_ID: facts["trial_id"],
            names.TRIAL_DIR: facts["trial_dir"],
            names.EXPERIMENT: facts["experiment"],
            names.SEED: str(facts["seed"]),
            names.CHECKPOINT_DIR: facts["checkpoint_dir"],
            names.ITERATION: str(iteration),
            names.CONFIG: json.dumps(config, default=str),
        }
        if self.reads_wandb:
            path = Path(facts["trial_dir"], "wandb_config.yaml")  # JSON is YAML
            values = {name: {"value": value} for name, value in config.items()}
            path.write_text(json.dumps(values, default=str), "utf-8")
            given |= {"WANDB_DIR": facts["trial_dir"], "WANDB_SWEEP_PARAM_PATH": str(path)}
            given.setdefault("WANDB_MODE", "offline")
        return given


def command(
    words: str | Sequence[str],
    *,
    metric: str | Sequence[str] | None = None,
    pattern: str | Sequence[str] | None = None,
    tensorboard: str | None = None,
    wandb: bool = False,
    hydra: bool = False,
    chdir: bool = False,
    env: Mapping[str, str] | None = None,
) -> Program:
    r"""Return a trainable that runs a program, which need not know of Overtone.

    `tune.run(tune.command("python train.py --lr {lr}", metric="loss"), config={"lr": tune.uniform(0, 1)})`
    runs the program once per trial. docs/sweep.md tells how metrics, checkpoints and ends travel.

    Args:
        words: The command, as a text or a list of words. `{name}` stands for a parameter, and so do
            `{trial_id}`, `{trial_dir}`, `{checkpoint_dir}`, `{experiment}` and `{seed}` for facts of the
            trial. Without placeholders, each parameter is appended as `--name=value`.
        metric: The metric that makes a result: metrics of earlier lines go with it. None makes each line
            with metrics a result.
        pattern: Regular expressions whose named groups are metrics, such as `"loss: (?P<loss>\\S+)"`. By
            default, lines that are JSON objects, and pairs such as `loss=0.3` in a line with `metric`.
        tensorboard: The folder of the event files of a trial, such as "{trial_dir}/events".
        wandb: Whether the program logs to W&B: its run file is read, and `wandb.config` has the config.
        hydra: Whether parameters are appended as Hydra's overrides, such as `model.lr=0.1`.
        chdir: Whether the program works in the trial's folder; by default in the driver's directory.
        env: Additional environment variables.

    Raises:
        ArgumentError: An argument is invalid.
    """
    given = shlex.split(words) if isinstance(words, str) else [str(word) for word in words]
    if not given:
        raise ArgumentError('words=[]: must be a command, such as "python train.py --lr {lr}"')
    if tensorboard is not None and not chdir and not any(f"{{{one}}}" in tensorboard for one in FACTS[:2]):
        raise ArgumentError(
            f"tensorboard={tensorboard!r}: must be a folder of the trial, such as '{{trial_dir}}/events', "
            "since trials run at the same time: write it in the command, too"
        )
    program = Program(
        tuple(without_interpreter(given)), _listed(metric), _listed(pattern), tensorboard, wandb, hydra,
        None if chdir else os.getcwd(), dict(env or {}),
    )  # fmt: skip
    TextMetrics(program.metrics, program.patterns)  # checks the patterns
    return program


def _listed(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def restore(folder: Path, checkpoint: str | None) -> None:
    """Let a folder have the files of a checkpoint, or none."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
    if checkpoint is None:
        folder.mkdir(parents=True)
    elif os.path.isdir(checkpoint):
        shutil.copytree(checkpoint, folder, ignore=shutil.ignore_patterns(OWN_FILE))
    else:
        folder.mkdir(parents=True)
        shutil.copy(checkpoint, folder)


class _SessionTrial(Trial):
    """A trial in its own process."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def report(self, metrics: Mapping[str, Any], checkpoint: str | None) -> None:
        self._session.report(metrics, checkpoint=checkpoint)

    def check(self, child: Child) -> None:
        self._session.obey_halt(child.frozen)

    def write(self, stream: str, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(1 if stream == "stdout" else 2, rest) :]
