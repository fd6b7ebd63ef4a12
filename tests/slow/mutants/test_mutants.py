"""Small mistakes in the core, each of which the tests must notice.

`python tests/slow/mutants/test_mutants.py` tries all of them and lists those that survive; the numbers
of some tries only these. A mutant replaces a piece of source, which must be there once, in a
copy of the package; then the tests that it names run against the copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).resolve().parents[3]
CORE = "src/overtone/core"

EVENTS = "unit/core/test_controller.py unit/core/test_controller_messages.py"
RULINGS = "unit/core/test_controller_rulings.py unit/core/test_controller_parking.py unit/core/test_controller_review.py"
ENDINGS = "unit/core/test_controller_endings.py"
TURNS = "unit/core/test_controller_turns.py"
LEDGER = "unit/core/test_ledger.py unit/core/test_placement.py"
GPU_MEMORY = "unit/core/test_gpu_memory.py"

MACHINE = "unit/core/test_controller_machine.py"


@dataclass(frozen=True)
class Mutant:
    """One mistake: in `file`, `old` becomes `new`; one of `tests` must notice."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}: {' '.join(self.old.split())[:60]!r} -> {' '.join(self.new.split())[:60]!r}"


def mutant(file: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(file, old, new, tests)


MUTANTS = [
    # events
    mutant("controller.py", "event.t <= live.t:", "event.t < live.t:", EVENTS),
    mutant("rulings.py", "if t > trial.ruled_t else None", "if t >= trial.ruled_t else None", EVENTS),
    mutant("rulings.py", "result.score > trial.best.score", "result.score < trial.best.score", EVENTS),
    mutant("controller.py", " or saved.t < live.saved_t", "", EVENTS),
    mutant("controller.py", " or live.is_up", "", EVENTS),
    mutant("rulings.py", "if t < live.until_t and not save and", "if t <= live.until_t and not save and", EVENTS),
    mutant("rulings.py", "if t < live.until_t and not save and", "if t < live.until_t and", RULINGS),
    mutant("rulings.py", "until = min(until, stopper.next_decision(trial))",
           "until = stopper.next_decision(trial)", EVENTS),
    mutant("endings.py", "budget is not None and time >= budget",
           "budget is not None and time > budget", EVENTS),
    mutant("rulings.py", "if trial.status is HALTING:", "if False:", EVENTS),
    mutant("controller.py", "live is None or live.trial.status is PARKED", "live is None", RULINGS),
    mutant("roster.py", " or live.trial.attempt != event.attempt", "", EVENTS),
    mutant("roster.py", "        trial.attempt += 1\n", "", RULINGS),
    # rulings and checkpoints
    mutant("controller.py", " or (saved.t == live.saved_t and self._roster.has(saved))", "", EVENTS),
    mutant("rulings.py", "self._roster.pin(checkpoint)\n", "pass\n", RULINGS),
    mutant("rulings.py", "self._roster.halt(trial, decision, save=True, park=self._scheduler.parks)",
           "self._roster.halt(trial, decision, save=True)", RULINGS),
    mutant("rulings.py", "self._roster.halt(trial, decision, save=is_own)",
           "self._roster.halt(trial, decision)", RULINGS),
    mutant("controller.py", ">= self.limits.max_parked", "> self.limits.max_parked", RULINGS),
    mutant("roster.py", "        if trial.checkpoint is not None:\n            self.unpin(trial.checkpoint)\n",
           "", EVENTS),
    mutant("roster.py", "        self.pin(checkpoint)\n        if trial.checkpoint", "        if trial.checkpoint",
           RULINGS),
    mutant("roster.py", "        self.parked.add(trial.id)\n        self.ledger.release(trial.id)\n",
           "        self.parked.add(trial.id)\n", RULINGS),
    mutant("roster.py", "if not is_same and status not in TRANSITIONS[trial.status]:", "if False:",
           "unit/core/test_trial.py"),
    # endings
    mutant("endings.py", "trial.failures <= allowed", "trial.failures < allowed", ENDINGS),
    mutant("endings.py", "allowed < 0 or ", "", ENDINGS),
    mutant("endings.py", "is_open = self.closing is None or self.keeps", "is_open = self.closing is None",
           ENDINGS),
    mutant("endings.py", "        trial.ruled_t = source.t if source else 0\n", "", RULINGS),
    mutant("endings.py", "        self._supply.on_end()\n", "", EVENTS),
    mutant("endings.py", "        self.refuse(trial)\n", "", RULINGS),
    mutant("endings.py", "halt(trial, Stop(why), save, grace_s=grace_s)", "halt(trial, Stop(why), grace_s=grace_s)",
           ENDINGS),
    mutant("endings.py", 'may_retry = event.cause != "limit"', 'may_retry = event.cause == "raised"', ENDINGS),
    mutant("endings.py", 'may_retry = event.cause != "limit"', "may_retry = True", ENDINGS),
    mutant("endings.py", "if count < MAX_LOSSES:", "if count <= MAX_LOSSES:", ENDINGS),
    mutant("endings.py", "count + 1 if trial.n_results == before else 1", "count + 1", ENDINGS),
    mutant("endings.py", "Status.PAUSED if trial.status is Status.PARKED else Status.PENDING", "Status.PENDING",
           RULINGS),
    mutant("roster.py", "        self.ledger.unreserve(trial.id)\n", "", TURNS),
    mutant("roster.py", "        self.ledger.release(trial.id)\n        trial.attempt", "        trial.attempt", EVENTS),
    # turns
    mutant("starts.py", "len(self._ledger) < cap:", "len(self._ledger) <= cap:", TURNS),
    mutant("roster.py", "newest is not None and newest.status is PENDING", "False", TURNS),
    mutant("starts.py", "            self.fairness.on_start(trial.resources, time)\n", "", TURNS),
    mutant("controller.py", "            self._review()\n            self._advance()\n            return\n",
           "            self._advance()\n            return\n", TURNS),
    mutant("queue.py", "-trial.priority, trial.index", "trial.priority, trial.index", "unit/core/test_queue.py"),
    mutant("queue.py", "            if trial_id != owner:\n                yield", "            yield",
           "unit/core/test_queue.py"),
    mutant("suggestion_quota.py", "insort(self._again, index)\n            self", "self", "unit/core/test_suggestion_quota.py"),
    mutant("suggestion_quota.py", "self._is_dry = False\n        self._n_doubtful = self.outstanding\n\n",
           "self._is_dry = False\n        self._n_doubtful = 0\n\n", "unit/core/test_suggestion_quota.py"),
    mutant("suggestion_quota.py", "        self.on_end()\n        return list", "        return list",
           "unit/core/test_suggestion_quota.py"),
    mutant("suggestion_quota.py", "wanted = max(self._lookahead - pending, room) - self.outstanding",
           "wanted = max(self._lookahead - pending, room)", "unit/core/test_suggestion_quota.py"),
    mutant("fairness.py", ">= sorted", "> sorted", "unit/core/test_fairness.py"),
    mutant("fairness.py", "time >= self._none_before and ", "", "unit/core/test_fairness.py"),
    mutant("fairness.py", "self._reserved[0] != owner:", "self._reserved[0] == owner:", "unit/core/test_fairness.py"),
    # books
    mutant("placement.py", "if self.free.get(name, 0) < units and", "if self.free.get(name, 0) <= units and", LEDGER),
    mutant("placement.py", "if free >= each]", "if free > 0]", LEDGER),
    mutant("placement.py", "if free >= each and left >= memory", "if free >= each", GPU_MEMORY),
    mutant("placement.py", "return [(min(room)[2], units)]", "return [(max(room)[2], units)]", LEDGER),
    mutant("placement.py", "            node.give(demand, gpus)\n", "", LEDGER),
    mutant("placement.py", "            if are_alike:\n", "            if depth:\n", LEDGER),
    mutant("placement.py", "            if self._left < 0:\n                return False\n", "", LEDGER),
    mutant("placement.py", "if self._is_strict and demand and node.name in taken:", "if False:", LEDGER),
    mutant("ledger.py", "        if self._reserved is not None and self._reserved[0] == owner:\n            self._reserved = None\n",
           "", LEDGER),
    mutant("ledger.py", "                self._nodes[node].give(demand, gpus)\n        self._fitting.clear()",
           "                self._nodes[node].give(demand, gpus)", LEDGER),
    mutant("ledger.py", "        if not self.fits(resources):\n            return 0\n        demand", "        demand",
           LEDGER),
    mutant("retention.py", "*judged[-n_newest:])}", ")}", "unit/core/test_retention.py"),
    mutant("retention.py", "= (1, NEWEST_AUTOMATIC) if", "= (1, 1) if", "unit/core/test_retention.py"),
    mutant("retention.py", "            if self._pins[uri] > 0:", "            if False:", "unit/core/test_retention.py"),
    mutant("retention.py", "<= self._rests[entry", "<= 1 + self._rests[entry", "unit/core/test_retention.py"),
    mutant("retention.py", "            return self._fit()\n", "            return []\n",
           "unit/core/test_retention.py"),
    mutant("roster.py", "                trial.checkpoint = None\n            self.commands",
           "                pass\n            self.commands", "unit/core/test_controller_restoring.py"),
    mutant("roster.py", "            self.forget(trial)\n        elif", "            pass\n        elif",
           "unit/core/test_controller_restoring.py"),
    # only the state machine notices
    mutant("controller.py", "        self.is_done = False\n        asked", "        asked", MACHINE),
    mutant("roster.py", "            self.parked.discard(trial.id)\n        self.ledger.release",
           "        self.ledger.release", RULINGS),
    mutant("retention.py", "                self._bytes -= entry.checkpoint.size_bytes\n", "", MACHINE),
    mutant("endings.py", "            self._roster.unpin(live.restart_from)\n", "            pass\n", MACHINE),
]  # fmt: skip


def survives(one: Mutant, package: Path) -> str:
    """Why the tests did not notice `one`, or nothing; `package` is a copy of src that is ours."""
    path = package / CORE / one.file
    source = path.read_text("utf-8")
    path.write_text(source.replace(one.old, one.new), "utf-8")
    try:
        code, output = check(package, one.tests)
    finally:
        path.write_text(source, "utf-8")
    if code == 1:
        return ""
    return f"{one} survives" if code == 0 else f"{one}: pytest failed with {code}:\n{output[-2000:]}"


def check(package: Path, tests: tuple[str, ...], timeout_s: int = 30) -> tuple[int, str]:
    """What pytest says of the copy: 0 where all pass, 1 where some fail, or take longer than `timeout_s`."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(package / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",  # files change within a second, and back
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # half of the time otherwise
        "CI": "true",  # the same examples each time
        "PYTEST_ADDOPTS": "",  # a failure is what is expected: no second run
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-p",
        "pytest_timeout",
        "-p",
        "no:cacheprovider",
        f"--timeout={timeout_s}",
    ]
    paths = [str(ROOT / "tests" / one) for one in " ".join(tests).split()]
    done = subprocess.run([*command, *paths], cwd=ROOT, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def copy(folder: Path) -> Path:
    """A copy of the package below `folder`."""
    ignored = shutil.ignore_patterns("__pycache__", "examples")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    return folder


def survivors(mutants: list[Mutant]) -> list[str]:
    """What is to be said of those that the tests did not notice."""
    workers = min(4, os.cpu_count() or 2)
    with TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        packages = [copy(Path(folder, str(i))) for i in range(workers)]

        def try_all(worker: int) -> list[str]:
            return [survives(one, packages[worker]) for one in mutants[worker::workers]]

        return [text for texts in pool.map(try_all, range(workers)) for text in texts if text]


@pytest.mark.slow
@pytest.mark.full  # these tests are part of `make test`
@pytest.mark.timeout(900)
def test_without_a_mistake_the_tests_pass(tmp_path):
    tests = tuple(sorted({test for one in MUTANTS for test in one.tests}))
    code, output = check(copy(tmp_path), tests, timeout_s=300)
    assert code == 0, output


@pytest.mark.parametrize("one", MUTANTS, ids=str)
def test_the_piece_that_a_mutant_replaces_is_there_once(one):
    assert (ROOT / CORE / one.file).read_text("utf-8").count(one.old) == 1, "adapt this mutant"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.full)])
def test_no_mistake_goes_unnoticed(every):
    assert survivors(MUTANTS[::every]) == []


if __name__ == "__main__":
    chosen = [MUTANTS[int(number)] for number in sys.argv[1:]] or MUTANTS
    found = survivors(chosen)
    print("\n".join(found) or f"none of {len(chosen)} survived")
    sys.exit(bool(found))
