# ruff: noqa
"""A package of the form of Ray: its parts import one another as `ray`."""

import importlib

from ray import util

LOADED = []
_initialized = {}

__version__ = "2.99.0"


def init(address=None, num_cpus=None, **options):
    _initialized.update(address=address, num_cpus=num_cpus)


def is_initialized():
    return bool(_initialized)


def shutdown():
    _initialized.clear()


class Ref:
    def __init__(self, value):
        self.value = value


def put(value):
    return Ref(value)


def get(ref):
    return [get(one) for one in ref] if isinstance(ref, list) else ref.value


def remote(function):
    return function


def options():
    return dict(_initialized)


def __getattr__(name):
    if name == "data":
        return importlib.import_module("." + name, __name__)
    raise AttributeError(name)
