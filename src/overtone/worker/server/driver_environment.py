"""The driver's environment for trial processes: arguments, modules, GPUs, the Job."""

from __future__ import annotations

import importlib
import mmap
import os
import pickle
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, cast

from overtone.core.job import Job
from overtone.core.limits import TrialLimits
from overtone.core.sizes import shorten
from overtone.errors import TrainableError
from overtone.worker.trainables.with_parameters import unwrap

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class DriverEnvironment:
    """The driver's environment, which its trial processes take over.

    Attributes:
        argv: Its `sys.argv`.
        preload: Modules that the driver has imported and that the trainable imports when it is called.
        gpu_ids: Ids of the GPUs in CUDA_VISIBLE_DEVICES, by their index in a Placement.
        thread_variables: The environment variables for thread pools that the user left unset.
        folder: The experiment's folder.
        log_to_file: As in the Job.
        is_warm: Whether trials are forked from the server, which then imports the user's
            modules, or started as new processes.
        limits: Limits of each trial.
    """

    argv: tuple[str, ...]
    preload: tuple[str, ...]
    gpu_ids: tuple[str, ...]
    thread_variables: tuple[str, ...]
    folder: str
    log_to_file: tuple[str, str] | None
    is_warm: bool
    limits: TrialLimits | None = None


_loading: list[bool] = []
"""Not empty while this process loads a Job."""

_IMPORTED_LATE = {"torch": "torch._dynamo", "overtone.tune": "overtone.tune.session"}
"""Modules that a library imports only at first use: torch does at the first optimizer, for seconds."""


def check_not_loading() -> None:
    """Refuse a search that a trial's module starts while a trial process imports the module.

    Raises:
        TrainableError: This process is loading a Job.
    """
    if _loading:
        raise TrainableError(
            "the module of a trainable starts a search when it is imported, and the processes of trials "
            'import it: put the search below `if __name__ == "__main__":`, or the trainable into a module '
            "of its own"
        )


def write_header(file: IO[bytes], surroundings: DriverEnvironment) -> None:
    """Write the header of `file`; the pickled Job follows it."""
    header = pickle.dumps(surroundings, protocol=5)
    file.write(_LENGTH.pack(len(header)) + header)


def take_over(descriptor: int) -> DriverEnvironment:
    """Read the driver's environment from the file `descriptor`, apply its argv, and return it."""
    found, _ = _parts(descriptor)
    surroundings = cast(DriverEnvironment, pickle.loads(found))
    sys.argv[:] = surroundings.argv
    return surroundings


def load_job(descriptor: int, surroundings: DriverEnvironment) -> Job:
    """Return the Job in the file `descriptor`, after importing the modules that it needs.

    Raises:
        BaseException: An import failed.
    """
    _, pickled = _parts(descriptor)
    _loading.append(True)
    try:
        job = cast(Job, pickle.loads(pickled))
    finally:
        _loading.pop()
    _try_to_import(surroundings.preload)
    _try_to_import([later for first, later in _IMPORTED_LATE.items() if first in sys.modules])
    _furnish_main(job.trainable)
    return job


def _try_to_import(names: Iterable[str]) -> None:
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:
            pass  # the trial gets the error if it imports that module itself


def explain(error: BaseException) -> tuple[str, str]:
    """Return one line and the traceback, from the user's code on, of an `error` in `load_job`."""
    from traceback import format_exception

    at = error.__traceback__
    while at is not None and at.tb_frame.f_globals.get("__name__", "").startswith("overtone.worker."):
        at = at.tb_next
    line = f"{type(error).__name__}: {error}"
    if isinstance(error, ModuleNotFoundError):
        line += " (its processes look for modules in the driver's sys.path)"
    return shorten(line), shorten("".join(format_exception(type(error), error, at)))


def _parts(descriptor: int) -> tuple[memoryview, memoryview]:
    # mapped, because the descriptor's position is shared by all processes that have it
    view = memoryview(mmap.mmap(descriptor, os.fstat(descriptor).st_size, prot=mmap.PROT_READ))
    end = _LENGTH.size + _LENGTH.unpack_from(view)[0]
    return view[_LENGTH.size : end], view[end:]


def _furnish_main(trainable: Any) -> None:
    """Add the classes and functions of the user's script that came by value to `__main__`.

    Pickle looks them up there, for `torch.save(model)` and for data that DataLoader workers send.
    """
    main = vars(sys.modules["__main__"])
    for namespace in _namespaces(trainable):
        for name, value in namespace.items():
            if getattr(value, "__module__", None) == "__main__" and getattr(value, "__name__", None) == name:
                main.setdefault(name, value)


def _namespaces(trainable: Any) -> Iterator[Mapping[str, Any]]:
    trainable = unwrap(trainable)
    kind = trainable if isinstance(trainable, type) else type(trainable)
    yield {kind.__name__: kind}
    for function in (trainable, *vars(kind).values()):
        namespace = getattr(function, "__globals__", None)
        if namespace is not None:
            yield {getattr(function, "__name__", ""): function, **namespace}
