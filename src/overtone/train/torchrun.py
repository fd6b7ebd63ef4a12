"""Scripts for torchrun as trainables: each rank runs the script as torchrun would."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.errors import ArgumentError
from overtone.train.backend import BackendConfig
from overtone.train.in_trial import report_to_trial
from overtone.train.script import Script
from overtone.train.training import Training
from overtone.tune.session import get_context
from overtone.worker.trainables.demand import ScalingConfig
from overtone.worker.trainables.with_parameters import Bound, with_parameters

if TYPE_CHECKING:
    from overtone.worker.gang.gang import Gang

GPUS = "CUDA_VISIBLE_DEVICES"


def torchrun(
    script: str | os.PathLike[str],
    args: Sequence[str] = (),
    nproc: int = 1,
    *,
    is_module: bool = False,
    cpus_per_proc: float = 1,
    gpus_per_proc: float = 0,
    placement_strategy: str = "PACK",
    timeout_s: float = 1800,
) -> Bound:
    """Return a trainable that runs a script as `torchrun --nproc-per-node=4 train.py` does.

    The script needs no change to run: each rank has torchrun's variables, and a trial's config becomes
    arguments after `args`: {"lr": 0.1, "model": {"width": 64}, "amp": True} are
    `--lr 0.1 --model.width 64 --amp`; None and False are left out. Results come in one of two ways:

    - Rank 0 writes lines of JSON, such as {"loss": 0.5}, to the descriptor whose number is in the variable
      OVERTONE_RESULTS_FD; lines of other ranks are ignored. If the trial is stopped, its ranks are killed.
    - The script calls `overtone.tune.report`, in each rank equally often.

    A script that exits with another status than 0 has failed.

    Args:
        script: The script's path, or with `is_module` the module's name.
        args: The first arguments of the script.
        nproc: The number of ranks.
        is_module: Whether `script` is a module, as with `python -m`.
        cpus_per_proc: CPUs of each rank.
        gpus_per_proc: GPUs of each rank.
        placement_strategy: "PACK", "SPREAD", "STRICT_PACK" or "STRICT_SPREAD".
        timeout_s: Longest time that a rank may let the others wait, in seconds.

    Raises:
        ArgumentError: There is no such script, `args` is text, or `nproc` is not a whole number above 0.
    """
    name = os.fspath(script)
    if not is_module:
        path = Path(name).expanduser().absolute()
        if not path.is_file():
            raise ArgumentError(f"torchrun({name!r}): there is no such file; a module needs is_module=True")
        name = str(path)
    if isinstance(args, str):
        raise ArgumentError(f"args={args!r}: must be a list of arguments, such as {args.split()}")
    if isinstance(nproc, str) or (isinstance(nproc, int) and nproc < 1):
        raise ArgumentError(f"nproc={nproc!r}: must be a whole number, 1 or more")
    worker = {"CPU": cpus_per_proc, **({"GPU": gpus_per_proc} if gpus_per_proc else {})}
    training = Training(
        Script(name, tuple(map(str, args)), is_module),
        scaling=ScalingConfig(
            num_workers=nproc, resources_per_worker=worker, placement_strategy=placement_strategy
        ),
        backend=_Torchrun(timeout_s),
    )
    resources = training.resources({})
    shown = name.rpartition(".")[2] if is_module else Path(name).stem
    return replace(with_parameters(run_script, training=training), resources=resources, name=shown)


def run_script(config: Mapping[str, Any], training: Training) -> None:
    """Run a script in all ranks as the trial itself."""
    report_to_trial(replace(training, loop_config=dict(config)))


@dataclass
class _Torchrun(BackendConfig):
    """The rendezvous of torchrun; the script makes its process group by itself."""

    timeout_s: float

    def __setstate__(self, state: dict[str, Any]) -> None:
        import torch  # noqa: F401  (a process that unpickles this has it for all its forks)

        self.__dict__.update(state)

    @contextmanager
    def head_context(self, gang: Gang) -> Iterator[None]:
        from overtone.train.torch.rendezvous import rendezvous

        show_gpus_of_node(gang)
        with rendezvous(gang.address, self.timeout_s) as variables:
            gang.update_environment(variables)
            yield

    @contextmanager
    def rank_context(self) -> Iterator[None]:
        from overtone.train.torch.process_groups import hang_up, keep_process_groups

        keep_process_groups()
        try:
            yield
        finally:
            hang_up()  # under torchrun, the process ends with the script


def show_gpus_of_node(gang: Gang) -> None:
    """Show each rank the GPUs of all ranks on its node, since scripts choose theirs by LOCAL_RANK.

    Where a rank has not exactly one GPU, LOCAL_RANK is not the number of a GPU, and each rank sees its own.
    """
    seen = gang.call(_node_and_gpus)
    if not all(gpus and "," not in gpus for _, gpus in seen):
        return
    for rank, (node, _) in enumerate(seen):
        joint = ",".join(gpus for other, gpus in seen if other == node)
        gang.call_rank(rank, _show_gpus, joint)


def _node_and_gpus() -> tuple[int, str]:
    return get_context().get_node_rank(), os.environ.get(GPUS, "")


def _show_gpus(gpus: str) -> None:
    os.environ[GPUS] = gpus
