# ruff: noqa
import ray


def version():
    return ray.__version__
