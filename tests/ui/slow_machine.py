"""A browser on a machine that is slow: `pytest tests/ui --cpu-rate 6 --late-frames 300 --latency 200`.

Whatever a test or the page does in time only because the machine is quick fails there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LATE_FRAMES = """
(() => {
  const { requestAnimationFrame: ask, cancelAnimationFrame: cancel } = globalThis;
  const waiting = new Map();
  globalThis.requestAnimationFrame = (draw) => {
    const id = setTimeout(() => waiting.set(id, ask((now) => { waiting.delete(id); draw(now); })), %d);
    return id;
  };
  globalThis.cancelAnimationFrame = (id) => {
    clearTimeout(id);
    if (waiting.has(id)) cancel(waiting.get(id));
    waiting.delete(id);
  };
})();
"""
"""Animation frames come later; a frame that is cancelled does not come."""


@dataclass(frozen=True)
class Slowness:
    """How slow the machine is.

    Attributes:
        cpu_rate: How many times slower the page's scripts run; 1 is this machine.
        late_frames: Milliseconds by which animation frames are late.
        latency: Milliseconds by which the server's answers are late.
    """

    cpu_rate: float = 1
    late_frames: int = 0
    latency: int = 0

    def apply(self, context: Any) -> None:
        """Slow down the pages that a browser's context opens from now on."""
        if self.late_frames:
            context.add_init_script(LATE_FRAMES % self.late_frames)
        if self.cpu_rate > 1 or self.latency:
            context.on("page", lambda page: self._slow_down(page))

    def _slow_down(self, page: Any) -> None:
        session = page.context.new_cdp_session(page)
        if self.cpu_rate > 1:
            session.send("Emulation.setCPUThrottlingRate", {"rate": self.cpu_rate})
        if self.latency:
            session.send("Network.enable")
            conditions = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
            session.send("Network.emulateNetworkConditions", {**conditions, "latency": self.latency})


def add_options(parser: Any) -> None:
    """Add the command line's options."""
    group = parser.getgroup("slow machine", "The dashboard's page on a machine that is slow")
    group.addoption(
        "--cpu-rate", type=float, default=1.0, help="how many times slower the page's scripts run"
    )
    group.addoption(
        "--late-frames", type=int, default=0, help="milliseconds by which animation frames are late"
    )
    group.addoption(
        "--latency", type=int, default=0, help="milliseconds by which the server's answers are late"
    )


def chosen(config: Any) -> Slowness:
    """Return the slowness that the command line asks for."""
    return Slowness(*(config.getoption(name) for name in ("--cpu-rate", "--late-frames", "--latency")))
