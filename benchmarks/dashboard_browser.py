"""Chromium and a server for benchmarks of the dashboard, and one tab that measures itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
]  # fmt: skip

PROBE = """
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longTasks.push(task.duration);
}).observe({ type: "longtask", buffered: true });
window.isPainted = (mark) => {
  if (mark !== "canvas") {
    return mark.startsWith("text=")
      ? document.body?.innerText.includes(mark.slice(5)) : !!document.querySelector(mark);
  }
  const canvas = document.querySelector("main canvas");
  if (!canvas || !canvas.width) return false;
  const small = document.createElement("canvas");
  small.width = small.height = 64;
  const context = small.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0, 64, 64);
  const pixels = new Uint32Array(context.getImageData(0, 0, 64, 64).data.buffer);
  return new Set(pixels).size > 40;  // axes and grid alone have few shades
};
window.cells = (name) => {
  const heads = [...document.querySelectorAll(".grid-head [role=columnheader]")];
  const at = heads.findIndex((head) => head.innerText.replace(/[\u2191\u2193]/g, "").trim() === name);
  const rows = [...document.querySelectorAll(".grid-body .grid-row")].map((row) => {
    const cells = row.querySelectorAll("[role=gridcell]");
    const text = cells[at]?.title || cells[at]?.textContent || "";
    return [row.querySelector(".trial-link").title, Number(text.replace(/[^-+.0-9e]/g, "") || NaN)];
  });
  return Object.fromEntries(rows);
};
window.watch = (name, seconds) => new Promise((done) => {
  const seen = [], until = performance.now() + 1000 * seconds;
  let before = window.cells(name);
  const look = () => {
    const now = window.cells(name), at = Date.now() / 1000;
    for (const [id, value] of Object.entries(now)) {
      if (value !== before[id] && isFinite(value) && isFinite(before[id])) seen.push([before[id], value, at]);
    }
    before = now;
    if (performance.now() < until) requestAnimationFrame(look); else done(seen);
  };
  look();
});
"""
"""In each tab: collects long tasks, tells whether a mark is painted, reads a column of trials."""


@contextmanager
def browser() -> Iterator[Any]:
    """Start Chromium, and close it in the end."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        sys.exit("chromium is not installed")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=[*FLAGS, "--js-flags=--expose-gc"])
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def server(folder: Path, *options: str, port: int = 0) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start `overtone ui FOLDER`, and yield the process and the address that it prints."""
    command = [sys.executable, "-m", "overtone", "ui", str(folder), "--port", str(port), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert process.stdout is not None
    try:
        line = process.stdout.readline().decode()
        found = re.search(r"http://\S+", line)
        if found is None:
            raise RuntimeError(f"no address: {line!r}")
        yield process, found[0]
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


class Page:
    """A tab of its own with one view of an experiment.

    Args:
        chromium: The browser.
        address: The address that the server printed.
        experiment: The experiment's folder.
        view: The view.
    """

    def __init__(self, chromium: Any, address: str, experiment: str, view: str) -> None:
        self.context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(120_000)
        self.tab.add_init_script(PROBE)
        self._protocol = self.context.new_cdp_session(self.tab)
        self._experiment = experiment
        self._address = f"{address.split('&next=')[0]}&next={quote(f'/e/{quote(experiment)}/{view}')}"
        self.n_requests = 0
        self.tab.on("request", self._count)

    def _count(self, _: object) -> None:
        self.n_requests += 1

    def open_until(self, mark: str) -> float:
        """Navigate, and return the seconds until a mark is painted."""
        self.n_requests = 0
        self.tab.goto(self._address, wait_until="commit")
        return float(
            self.tab.evaluate(
                """(mark) => new Promise((done) => {
                  const look = () => window.isPainted(mark)
                    ? requestAnimationFrame(() => setTimeout(() => done(performance.now() / 1000)))
                    : requestAnimationFrame(look);
                  look();
                })""",
                mark,
            )
        )

    def go(self, view: str) -> None:
        """Show another view."""
        self.tab.evaluate("(hash) => { location.hash = hash; }", f"#/e/{self._experiment}/{view}")

    def settle(self) -> None:
        """Wait until the network and the main thread were idle for a while."""
        self.tab.wait_for_timeout(1500)
        self.tab.evaluate("() => new Promise((done) => requestIdleCallback(() => done()))")

    def longest_task_ms(self) -> float:
        """Return the longest task so far; 0 if none took 50 ms."""
        return float(self.tab.evaluate("() => Math.max(0, ...window.longTasks)"))

    def longest_task_of(self, act: Callable[[], object]) -> float:
        """Return the longest task in ms while `act` runs and half a second after it."""
        self.tab.evaluate("() => { window.longTasks.length = 0; }")
        act()
        self.tab.wait_for_timeout(700)
        return self.longest_task_ms()

    def heap_bytes(self) -> float:
        """Return the memory of the page's script with its array buffers, after a garbage collection."""
        self._protocol.send("HeapProfiler.collectGarbage")
        usage = self._protocol.send("Runtime.getHeapUsage")
        return float(usage["usedSize"] + usage.get("backingStorageSize", 0))

    def cells(self, name: str) -> dict[str, float]:
        """Return the values of a column of the table of trials, by trial."""
        return dict(self.tab.evaluate("(name) => window.cells(name)", name))

    def watch(self, name: str, seconds: float) -> list[tuple[float, float, float]]:
        """Return each change of a cell of a column: the values before and after, and its time."""
        return [
            tuple(one) for one in self.tab.evaluate("([name, s]) => window.watch(name, s)", [name, seconds])
        ]

    def cut_connection(self, seconds: float = 2.0) -> None:
        """Take the network away for a while."""
        self.context.set_offline(True)
        self.tab.wait_for_timeout(1000 * seconds)
        self.context.set_offline(False)

    def close(self) -> None:
        """Close the tab."""
        self.context.close()
