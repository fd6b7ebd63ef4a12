"""The module `ray` that scripts see: Overtone's packages, some functions, the rest of the installed Ray.

Until the installed Ray is loaded, `init`, `put`, `get` and the like are Overtone's. From then on they are the
installed Ray's, and `get` and `wait` take references of both.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Sequence
from importlib import metadata
from types import ModuleType
from typing import Any

from overtone.as_ray.installed_view import REPLACED, MissingRayError
from overtone.as_ray.state import INSTALLED, loaded_ray

_init_options: dict[str, Any] = {}
"""Arguments of `init` that the installed Ray has not got yet."""


def furnish(module: ModuleType) -> None:
    """Give the module `ray` its names."""
    for function in _FUNCTIONS:
        setattr(module, function.__name__, function)
    vars(module).update(
        __doc__="Overtone in place of Ray Tune, Train and AIR, and the installed Ray for the rest.",
        __getattr__=_attribute,
        __dir__=_names,
    )


# --- functions of Overtone and of the installed Ray -------------------------------------------


def init(address: str | None = None, **options: Any) -> Any:
    """Declare this machine's resources, or connect to the cluster at `address` if Ray is installed."""
    ray = loaded_ray()
    if ray is None and address not in (None, "local") and _is_ray_installed():
        ray = importlib.import_module(INSTALLED)
    if ray is not None:
        return ray.init(address, **options)
    _init_options.clear()
    _init_options.update(options)
    return _ours("init")(address, **options)


def shutdown(*args: Any, **options: Any) -> None:
    """Undo `init`."""
    ray = loaded_ray()
    if ray is not None:
        ray.shutdown(*args, **options)
    _init_options.clear()
    _ours("shutdown")()


def is_initialized() -> bool:
    """Return whether `init` was called, or this code runs in a trial."""
    ray = loaded_ray()
    return _ours("is_initialized")() or _is_trial() or (ray is not None and ray.is_initialized())


def get(object_refs: Any, **options: Any) -> Any:
    """Return the object of a reference, or the objects of a list of references."""
    ray = loaded_ray()
    if ray is None or _is_ours(object_refs):
        return _ours("get")(object_refs)
    if isinstance(object_refs, (list, tuple)) and any(map(_is_ours, object_refs)):
        return [get(one, **options) for one in object_refs]
    return ray.get(object_refs, **options)


def wait(object_refs: Sequence[Any], **options: Any) -> Any:
    """Return the references that are ready, and the others."""
    ray = loaded_ray()
    is_theirs = ray is not None and not any(map(_is_ours, object_refs))
    return (ray.wait if is_theirs else _ours("wait"))(object_refs, **options)


def put(value: Any, **options: Any) -> Any:
    """Share `value`; `get` returns it."""
    ray = ready_ray()
    return _ours("put")(value) if ray is None else ray.put(value, **options)


def nodes() -> Any:
    """Return the nodes of the cluster, or one entry for this machine."""
    return _either("nodes")()


def cluster_resources() -> Any:
    """Return the resources of the cluster, or of this machine."""
    return _either("cluster_resources")()


def available_resources() -> Any:
    """Return the free resources of the cluster, or those of this machine."""
    return _either("available_resources")()


def get_gpu_ids() -> Any:
    """Return the GPUs of this process."""
    return _either("get_gpu_ids")()


_FUNCTIONS = (
    init, shutdown, is_initialized, get, wait, put, nodes, cluster_resources, available_resources,
    get_gpu_ids,
)  # fmt: skip


def _is_trial() -> bool:
    session = sys.modules.get("overtone.worker.session.current")
    return session is not None and session.is_inside()


def _ours(name: str) -> Any:
    return getattr(sys.modules["overtone"], name)


def _either(name: str) -> Any:
    ray = ready_ray()
    return _ours(name) if ray is None or not ray.is_initialized() else getattr(ray, name)


def _is_ours(reference: Any) -> bool:
    return isinstance(reference, importlib.import_module("overtone.worker.shared_objects").ObjectRef)


def ready_ray() -> Any:
    """Return the installed Ray if it is loaded, after the script's `init`, if any; else None."""
    ray = loaded_ray()
    if ray is not None and _init_options and not ray.is_initialized():
        known = inspect.signature(ray.init).parameters
        options = {name: value for name, value in _init_options.items() if name in known}
        _init_options.clear()
        ray.init(**options)
    return ray


# --- other names ------------------------------------------------------------------------------


def _attribute(name: str) -> Any:
    """Return a package of Overtone's, or a name of the installed Ray, which is loaded now."""
    if name in REPLACED:
        return importlib.import_module(f"ray.{name}")
    if name == "__version__":
        try:
            return metadata.version("ray")
        except metadata.PackageNotFoundError:  # a checkout on the path
            return importlib.import_module(INSTALLED).__version__
    if name.startswith("__"):
        raise AttributeError(f"module 'ray' has no attribute {name!r}")
    if not _is_ray_installed():
        try:
            return _ours(name)
        except (AttributeError, ImportError) as error:
            raise AttributeError(str(MissingRayError(f"ray.{name}"))) from error
    value = getattr(importlib.import_module(INSTALLED), name)
    if inspect.isroutine(value):  # `ray.remote` and the like: they need what `init` was called with
        ready_ray()
    return value


def _names() -> list[str]:
    own = [*vars(sys.modules["ray"]), *REPLACED, "__version__"]
    return sorted({*own, *dir(loaded_ray() or object)})


def _is_ray_installed() -> bool:
    return bool(sys.modules["ray"].__path__)
