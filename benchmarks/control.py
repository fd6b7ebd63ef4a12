"""Requests a second that a run takes while its trials report, and what a request costs the driver.

A search of two trials that report all the time is sent notes, which change nothing:

- pipelined: one client sends many requests on one connection, and reads their answers;
- one by one: each of several clients connects, sends a request and waits for its answer.

The answers are checked: each has the number of a record, in order. `driver` is CPU time of the driver's
process for a request, less what the same time costs it without requests.

    python benchmarks/control.py [REQUESTS]
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from overtone import tune
from overtone.control.meeting_place import connect
from overtone.control.wire import PROTOCOL, frame_of, reader

CLIENTS = 4


def train(config: dict[str, float]) -> None:
    for step in range(10**9):
        time.sleep(0.01)
        tune.report({"loss": config["x"] + step})


def pipelined(folder: Path, count: int) -> None:
    """Send `count` notes on one connection and read the answers."""
    frames = [frame_of({"protocol": PROTOCOL, "what": "note", "note": f"note {i}"}) for i in range(count)]
    connection, _ = connect(folder, 60.0)
    with connection:
        threading.Thread(target=connection.sendall, args=(b"".join(frames),)).start()
        incoming, numbers = reader(), list[int]()
        while len(numbers) < count:
            numbers += [document["n"] for document in incoming.feed(connection.recv(1 << 16))]
    if numbers != sorted(set(numbers)):
        raise SystemExit("answers are missing or in disorder")


def one_by_one(folder: Path, count: int) -> None:
    """Send `count` notes from several clients, each on a connection of its own."""

    def talk() -> None:
        run = tune.attach(folder)
        for i in range(count // CLIENTS):
            run.note(f"note {i}")

    threads = [threading.Thread(target=talk) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def drive(storage: str) -> None:
    """Run the search until it is stopped."""
    tune.run(
        train, config={"x": tune.uniform(0, 1)}, num_samples=2, metric="loss", mode="min", name="steered",
        storage_path=storage, verbose=0, tensorboard=False, resources_per_trial={"cpu": 0.5},
    )  # fmt: skip


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as storage:
        driver = psutil.Popen([sys.executable, __file__, "--drive", storage])
        folder = Path(storage) / "steered"
        while not (folder / "control.sock").exists():
            time.sleep(0.05)
        try:
            pipelined(folder, 1000)  # The start of the run and of its trials is over then.
            time.sleep(2.0)
            for name, send in (("pipelined", pipelined), (f"{CLIENTS} clients one by one", one_by_one)):
                idle_s, idle_cpu = _idle(driver)
                cpu, began = _cpu(driver), time.perf_counter()
                send(folder, count)
                seconds = time.perf_counter() - began
                cost_us = 1e6 * (_cpu(driver) - cpu - idle_cpu * seconds / idle_s) / count
                print(f"{name}: {count / seconds:,.0f} requests/s, driver: {cost_us:.0f} us of CPU for each")
            tune.attach(folder).stop()
            driver.wait(60)
        finally:
            if driver.is_running():
                driver.kill()


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _idle(driver: psutil.Process) -> tuple[float, float]:
    """Return some seconds without requests, and the driver's CPU time in them."""
    cpu, began = _cpu(driver), time.perf_counter()
    time.sleep(2.0)
    return time.perf_counter() - began, _cpu(driver) - cpu


if __name__ == "__main__":
    if sys.argv[1:2] == ["--drive"]:
        drive(sys.argv[2])
    else:
        main()
