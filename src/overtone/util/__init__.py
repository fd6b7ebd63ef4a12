"""`overtone.util.sgd`; every other name is that of `ray.util` of an installed Ray."""

from importlib import import_module
from typing import Any

from overtone.module_paths import find_spec


def __getattr__(name: str) -> Any:
    path = f"{__name__}.{name}"
    try:
        if name == "sgd":
            return import_module(path)
        find_spec(path)
    except ImportError as error:  # such as: Ray is not installed
        raise AttributeError(str(error)) from None
    return getattr(import_module("ray.util"), name)
