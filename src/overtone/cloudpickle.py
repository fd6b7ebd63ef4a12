"""Kept for imports of `ray.cloudpickle`: the package `cloudpickle`."""

from cloudpickle import (
    CloudPickler,
    dump,
    dumps,
    load,
    loads,
    register_pickle_by_value,
    unregister_pickle_by_value,
)

__all__ = [
    "CloudPickler",
    "dump",
    "dumps",
    "load",
    "loads",
    "register_pickle_by_value",
    "unregister_pickle_by_value",
]
