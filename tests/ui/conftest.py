"""The page in Chromium, against real servers and real runs.

Fixtures: `page` and `new_page` (tabs that fail the test on an error that the page logs), `finished` (a folder
with small finished experiments) and its server `served`, which tests share; `experiments` (a copy of the folder),
`serve` (servers of a folder), `start_run` (a run that goes on).
Everything that a test starts is closed at its end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ui import slow_machine
from tests.ui.harness import (
    Server,
    Tab,
    chromium,
    closed,
    left_running,
    make_experiments,
    read_address,
    start_server,
)

sync_api = pytest.importorskip("playwright.sync_api", reason="tests of the page need playwright: make ui")

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
WIDE = {"width": 1440, "height": 900}
WITHIN_MS = 120_000
"""Patience with a busy machine: a page that is right answers long before."""

sync_api.expect.set_options(timeout=WITHIN_MS)


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """At the end, no process is there that a test started."""
    yield
    assert left_running("overtone|chrom|node") == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests; each test has contexts of its own in it."""
    path = chromium()
    if path is None:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that make the browser's machine slow."""
    slow_machine.add_options(parser)


@pytest.fixture
def slowness(request: pytest.FixtureRequest) -> slow_machine.Slowness:
    """How slow the browser's machine is; a test that asks for another slowness gives it as a parameter."""
    return getattr(request, "param", None) or slow_machine.chosen(request.config)


@pytest.fixture
def new_page(browser: Any, slowness: slow_machine.Slowness) -> Iterator[Callable[..., Any]]:
    """Open tabs, each in a context of its own; the test fails if one logs an error.

    The arguments are those of playwright's `new_context`. `page.faults` are the errors so far (console,
    exceptions, refused by the content security policy, requests to another origin); a test that provokes one
    adds its text to `page.expected` before.
    """
    tabs: list[Tab] = []

    def open_tab(**options: Any) -> Any:
        tab = Tab(browser.new_context(**{"viewport": WIDE, "locale": "en-GB", **options}), slowness)
        tab.context.set_default_timeout(WITHIN_MS)
        tabs.append(tab)
        return tab.page

    yield open_tab
    faults = [fault for tab in tabs for fault in tab.page.faults]
    for tab in tabs:
        tab.context.close()
    assert faults == []


@pytest.fixture
def page(new_page: Callable[..., Any]) -> Any:
    """A tab, 1440 pixels wide, English, light."""
    return new_page(color_scheme="light")


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start `overtone ui FOLDER OPTIONS...` on a free port, and wait until it prints its address."""
    servers: list[Server] = []

    def start(folder: Path | str, *options: str, **environment: str) -> Server:
        servers.append(server := start_server(folder, *options, **environment))
        server.address = read_address(server.process)
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with "asha" (30 trials), "pbt" and "failing", which no test changes."""
    return make_experiments(tmp_path_factory.mktemp("finished"))


@pytest.fixture(scope="session")
def served(finished: Path) -> Iterator[Server]:
    """A server of `finished`, for all tests that change nothing."""
    server = start_server(finished)
    try:
        server.address = read_address(server.process)
        yield server
    finally:
        server.stop()


@pytest.fixture
def experiments(finished: Path, tmp_path: Path) -> Path:
    """A copy of `finished`, which the test may change."""
    return Path(shutil.copytree(finished, tmp_path / "experiments", symlinks=True))


@pytest.fixture
def start_run(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a script as a process of its own, in a group of its own: `start_run(text, *arguments)`."""
    processes: list[subprocess.Popen[str]] = []

    def start(text: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        script = tmp_path / f"run_{len(processes)}.py"
        script.write_text(text)
        process = subprocess.Popen(
            [sys.executable, str(script), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        closed(process)
