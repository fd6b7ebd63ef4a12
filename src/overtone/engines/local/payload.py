"""Payload that the driver sends to the server of trial processes: the pickled Job and its surroundings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import IO, Any

from overtone.core.job import Job
from overtone.engines.local.pickle_error import blame
from overtone.errors import TrainableError
from overtone.worker import threads
from overtone.worker.server.driver_environment import DriverEnvironment, write_header
from overtone.worker.trainables.with_parameters import unwrap


def write_payload(job: Job, gpu_ids: tuple[str, ...], is_warm: bool, preload: Sequence[str] = ()) -> int:
    """Write the Job to a nameless file and return its descriptor.

    Functions and classes are pickled by value if they come from the user's script or from
    modules that another process could not import.

    Raises:
        TrainableError: The Job cannot be pickled; the message names the variable at fault.
    """
    from overtone.by_value import dump

    surroundings = DriverEnvironment(
        argv=tuple(sys.argv),
        preload=(*preload, *_imported_inside(job.trainable)),
        gpu_ids=gpu_ids,
        thread_variables=threads.unset_variables({**os.environ, **(job.runtime_env.get("env_vars") or {})}),
        folder=str(job.folder),
        log_to_file=job.log_to_file,
        is_warm=is_warm,
        limits=job.limits,
    )
    with nameless_file() as file:
        write_header(file, surroundings)
        with _by_value(_unimportable_module(job.trainable)):
            try:
                dump(job, file)
            except Exception as error:
                raise TrainableError(blame(job, error)) from error
        file.flush()
        return os.dup(file.fileno())


def nameless_file() -> IO[bytes]:
    """Return an open file that is deleted when it is closed."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("overtone-job"), "w+b")
    import tempfile

    return tempfile.TemporaryFile()


# --- modules ----------------------------------------------------------------------------


def _unimportable_module(trainable: Any) -> ModuleType | None:
    """Return the trainable's module if a new process cannot or must not import it by name; else None.

    A module that is still being imported starts this search itself. A second import would start it again.
    """
    inner = unwrap(trainable)
    name = getattr(inner, "__module__", None) or type(inner).__module__
    module = sys.modules.get(name)
    if module is None or name == "__main__" or name in sys.builtin_module_names:
        return None
    is_under_way = getattr(module.__spec__, "_initializing", False)
    return module if is_under_way or not _can_be_found(module) else None


def _can_be_found(module: ModuleType) -> bool:
    """Return whether a new Python with this sys.path would load the same file under that name."""
    from importlib.machinery import PathFinder

    # editable installs add finders, which a new Python has as well
    editable: list[Any] = [
        one for one in sys.meta_path if getattr(one, "__module__", "").startswith("__editable__")
    ]
    path, name, spec = None, "", None
    for part in module.__name__.split("."):
        name = f"{name}.{part}" if name else part
        try:
            found = (finder.find_spec(name, path) for finder in [PathFinder, *editable])
            spec = next((one for one in found if one is not None), None)
        except (ImportError, KeyError):
            return False  # a namespace package that was never imported
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return spec is not None and spec.origin == getattr(module, "__file__", None)


@contextmanager
def _by_value(module: ModuleType | None) -> Iterator[None]:
    if module is None:
        yield
        return
    import cloudpickle

    registered = module.__name__ in cloudpickle.list_registry_pickle_by_value()
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        if not registered:
            cloudpickle.unregister_pickle_by_value(module)


def _imported_inside(trainable: Any) -> list[str]:
    """Return the modules that the trainable's code imports when it runs and this process has loaded."""
    import dis

    inner = unwrap(trainable)
    members = [inner, *vars(inner if isinstance(inner, type) else type(inner)).values()]
    names: dict[str, None] = {}
    for member in members:
        code = getattr(member, "__code__", None)
        if code is not None:
            package = ""
            for instruction in dis.get_instructions(code):
                if instruction.opname == "IMPORT_NAME":
                    package = instruction.argval
                    names[package] = None
                elif instruction.opname == "IMPORT_FROM":  # which may be a module, too
                    names[f"{package}.{instruction.argval}"] = None
    return [name for name in names if name in sys.modules]
