"""What all tests need."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell that runs the tests in the background has them ignore Ctrl-C, and what they start with them
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest.register_assert_rewrite("overtone.testing")  # its suites say what differs, as tests do

try:
    import hypothesis
except ModuleNotFoundError:
    pass  # some environments have no property tests
else:
    # how long an example takes tells of the machine's other work
    hypothesis.settings.register_profile(
        "default", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.load_profile("default")

# Ray runs agents and trials at niceness 15: beside other work, starting one would take minutes.
# On a slow machine its processes start later than it waits for them by default.
os.environ.update({
    "RAY_worker_niceness": "0",
    "RAY_gcs_server_port_wait_time_s": "180",
    "RAY_worker_register_timeout_seconds": "300",
})  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests with the mark `full` where CI=true."""
    if os.environ.get("CI") == "true":
        for item in items:
            if item.get_closest_marker("full"):
                item.add_marker(pytest.mark.skip(reason="CI leaves it out: run its stage without CI=true"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End the process of a test that its time limit did not end, and print where each thread stands.

    The limit is an alarm: a test that sets one of its own takes it away, and code may catch its error and wait on.
    """
    marker = item.get_closest_marker("timeout")
    limit_s = marker.args[0] if marker else item.config.getoption("timeout") or item.config.getini("timeout")
    faulthandler.dump_traceback_later(
        2 * float(limit_s) + 60,  # a test that fails may run once more
        file=item.config.stash[fault_handler_stderr_fd_key],
        exit=True,
    )
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Show why a test failed that passed when `.ci/run` ran it once more."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.write_sep("_", f"first run of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext[-4000:])


SHORT_RUNS = {"e2e", "slow", "migration", "golden", "ray_behaviour"}
"""Folders of tests whose runs last a moment."""


@pytest.fixture(scope="module", autouse=True)
def short_runs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let runs start no more processes than their trials need, and these import little.

    Functions of the test's module go to trials by value: to import the module, and pytest with it, takes
    longer than most trials. A module with BY_REFERENCE = True is left alone. Files are written by the driver,
    also where the machine is busy. Event files are written where a test asks for them.
    """
    if request.path.parent.name not in SHORT_RUNS:
        yield
        return
    import cloudpickle

    from overtone.observers import projections
    from overtone.observers.files import file_process

    if is_by_value := not getattr(request.module, "BY_REFERENCE", False):
        cloudpickle.register_pickle_by_value(request.module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_process, "START_AFTER_S", float("inf"))
        patch.setattr(projections, "is_available", lambda: False)
        yield
    if is_by_value:
        cloudpickle.unregister_pickle_by_value(request.module)


@pytest.fixture(autouse=True)
def process_state() -> Iterator[None]:
    """Take back changes of the environment, the directory and the import path, which all tests share.

    Trials that run in this process change them as in a process of their own, which ends with them.
    """
    variables, directory, path = dict(os.environ), os.getcwd(), list(sys.path)
    yield
    if os.environ != variables:
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        os.environ.update(variables)
    sys.path[:] = path
    os.chdir(directory)
