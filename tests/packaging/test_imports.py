"""What `from overtone import tune` may cost: told by the modules that it loads, not by a clock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
FORBIDDEN = {
    "asyncio", "cloudpickle", "concurrent.futures", "dataclasses", "http", "inspect", "json", "logging",
    "multiprocessing", "numpy", "pandas", "pathlib", "psutil", "re", "rich", "socket", "subprocess",
    "tensorboardX", "threadpoolctl", "torch", "typing", "unittest",
}  # fmt: skip

THIRD_PARTY = {"cloudpickle", "numpy", "pandas", "psutil", "rich", "tensorboardX", "threadpoolctl", "torch"}


def loaded(statement: str) -> set[str]:
    """The modules that `statement` loads in a fresh interpreter, beyond those of the interpreter."""
    program = (
        "import sys; before = set(sys.modules); "
        f"sys.path.insert(0, {str(SOURCE)!r}); {statement}; "
        "print(*sorted(set(sys.modules) - before))"
    )
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_importing_tune_loads_the_lazy_table_and_the_hook_and_nothing_else():
    ours = {"overtone", "overtone.lazy", "overtone.tune", "overtone.uncaught"}
    assert loaded("from overtone import tune") - {"__future__"} == ours


@pytest.mark.parametrize(
    "statement",
    [
        "import overtone as ray; ray.init(); ray.is_initialized(); ray.shutdown()",
        "from overtone import train, air",
        "from overtone.tune import schedulers, search",
        "from overtone import tune; dir(tune)",
    ],
)
def test_other_first_steps_load_no_heavy_module(statement):
    assert loaded(statement) & FORBIDDEN == set()


def test_writing_a_space_and_a_stop_loads_no_third_party_package():
    used = loaded("from overtone import tune; tune.uniform(0, 1); tune.choice([1]); tune.Stopper")
    assert used & THIRD_PARTY == set()
    assert used & {"asyncio", "multiprocessing", "subprocess", "unittest"} == set()


def test_numpy_is_not_needed_to_make_an_experiment():
    used = loaded("from overtone.tune.arguments import to_experiment; to_experiment(print)")
    assert used & (THIRD_PARTY | {"logging", "subprocess", "multiprocessing"}) == set()


def test_a_server_of_processes_starts_before_the_driver_is_loaded():
    used = loaded("from overtone import tune; tune.run")
    assert "overtone.engines.local.prestart" in used
    late = ("overtone.core", "overtone.experiment", "overtone.run", "overtone.engines.local.engine")
    assert [name for name in used if name.startswith(late)] == []
