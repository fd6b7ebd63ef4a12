"""Limits for the BLAS, OpenMP and torch threads of a trial, by its CPUs."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable, Mapping
from types import ModuleType

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
"""Environment variables that numerical libraries read at load time for the size of their pools."""

_SURVIVE_A_FORK = ("openblas", "blis", "mkl")
"""Pools that start again in a forked child; GNU's OpenMP hangs there."""


def unset_variables(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the `VARIABLES` that the user left unset; () if OMP_NUM_THREADS is set."""
    if "OMP_NUM_THREADS" in environment:
        return ()
    return tuple(name for name in VARIABLES if name not in environment)


def limit(count: int, variables: Iterable[str]) -> None:
    """Limit the pools of this process to `count` threads each.

    Args:
        count: Threads per pool; pools that are already loaded had 1 so far.
        variables: Names in `VARIABLES` that may be set; if empty, the user has set the limits and
            they stay.
    """
    names = list(variables)
    if not names or all(os.environ.get(name) == str(count) for name in names):
        return
    for name in names:
        os.environ[name] = str(count)  # for libraries that the trial loads later
    import threadpoolctl

    threadpoolctl.threadpool_limits(count)
    torch = _loaded("torch")
    if torch is not None:
        torch.set_num_threads(count)
    numexpr = _loaded("numexpr")
    if numexpr is not None:
        numexpr.set_num_threads(count)


def _loaded(name: str) -> ModuleType | None:
    return sys.modules.get(name)


def lost_in_a_fork() -> str:
    """Return why a fork of this process would lose threads, for people; empty if it would not.

    Counts Python's threads and native ones, without pools that start again in a child.
    """
    others = [one.name for one in threading.enumerate() if one is not threading.main_thread()]
    if others:
        return f"{len(others)} Python thread(s) run there: {', '.join(sorted(others)[:3])}"
    try:
        native = len(os.listdir("/proc/self/task")) - 1
    except OSError:
        return ""  # no /proc: nothing is known of native threads
    if native > 0:
        native -= _allocator_threads()
    if native > 0:
        native -= _pool_threads()
    return f"{native} native thread(s) run there" if native > 0 else ""


def _allocator_threads() -> int:
    """Return the number of jemalloc's threads (from pyarrow); a child does not need them."""
    found = 0
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm", encoding="ascii", errors="replace") as file:
                found += file.read().strip() == "jemalloc_bg_thd"
        except OSError:
            pass  # it has ended
    return found


def _pool_threads() -> int:
    """Return the number of threads in pools that survive a fork."""
    import threadpoolctl

    pools = threadpoolctl.threadpool_info()
    return sum(
        pool["num_threads"] - 1
        for pool in pools
        if pool["internal_api"] in _SURVIVE_A_FORK or pool.get("prefix") in ("libiomp", "libomp")
    )
