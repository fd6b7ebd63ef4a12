"""The state machine of tests/unit/core, longer: other experiments each time.

OVERTONE_EXAMPLES says how many (20 in CI, 150 else).
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

_PATH = Path(__file__).parents[1] / "unit" / "core" / "test_controller_machine.py"
_SPEC = importlib.util.spec_from_file_location("controller_machine", _PATH)
machine = sys.modules["controller_machine"] = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(machine)

FEW, MANY = 20, int(os.environ.get("OVERTONE_EXAMPLES", "150"))
LONGER = settings(
    machine.bounded, stateful_step_count=80, derandomize=False, print_blob=True
)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("examples", [FEW, pytest.param(MANY, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["Machine", "AshaMachine", "FifoMachine"])
def test_it_balances_and_ends(name, examples) -> None:
    run_state_machine_as_test(getattr(machine, name), settings=settings(LONGER, max_examples=examples))
