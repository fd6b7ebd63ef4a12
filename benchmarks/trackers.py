"""What a tracker costs a driver: the time of its calls for a tracker whose server never answers.

    python benchmarks/trackers.py [--trials 8] [--results 200]

Searches without a tracker, with a server that accepts connections and never answers, and with an address that
no route leads to, one after the other, in rounds.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from overtone import tune
from overtone.observers.trackers.trackers import Trackers
from overtone.tune.logger.mlflow import MLflowLoggerCallback

UNROUTABLE = "http://10.255.255.1:5000"


def train(config: dict[str, Any]) -> None:
    for _ in range(config["results"]):
        time.sleep(0.005)
        tune.report({"loss": config["x"]})


@contextmanager
def black_hole() -> Any:
    """A server that accepts connections, and never answers; yields its address."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def searched(uri: str | None, trials: int, results: int) -> tuple[float, float, list[float]]:
    """Return seconds of the loop, seconds of the end, and the milliseconds of each call for trackers."""
    calls: list[float] = []
    end = [0.0]

    def timed(method: Callable[[Any], None], add: Callable[[float], None]) -> Callable[[Any], None]:
        def call(self: Any) -> None:
            began = time.perf_counter()
            method(self)
            add(time.perf_counter() - began)

        return call

    def set_end(seconds: float) -> None:
        end[0] += seconds

    before = Trackers.flush, Trackers.close
    Trackers.flush = timed(Trackers.flush, lambda s: calls.append(1000 * s))  # type: ignore[method-assign,assignment]
    Trackers.close = timed(Trackers.close, set_end)  # type: ignore[method-assign,assignment]
    try:
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            tune.run(
                train, config={"x": tune.uniform(0, 1), "results": results}, num_samples=trials, verbose=0,
                storage_path=folder, callbacks=[] if uri is None else [MLflowLoggerCallback(uri)],
            )  # fmt: skip
            return time.perf_counter() - began - end[0], end[0], calls
    finally:
        Trackers.flush, Trackers.close = before  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--results", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wait", type=float, default=30.0, help="most seconds at the end")
    args = parser.parse_args()
    MLflowLoggerCallback.upload_timeout = args.wait
    with black_hole() as never:
        places = {"no tracker": None, "never answers": never, "no route": UNROUTABLE}
        found: dict[str, list[tuple[float, float, list[float]]]] = {name: [] for name in places}
        for _ in range(args.rounds):
            for name, uri in places.items():
                found[name].append(searched(uri, args.trials, args.results))
    print("| server | search, s | end, s | calls | p50, ms | p99, ms | longest, ms |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, rounds in found.items():
        calls = sorted(one for _, _, some in rounds for one in some)
        search = statistics.median(one[0] for one in rounds)
        end = statistics.median(one[1] for one in rounds)
        cells = [f"{search:.1f}", f"{end:.1f}", str(len(calls))]
        if calls:
            cells += [f"{calls[int(q * (len(calls) - 1))]:.3f}" for q in (0.5, 0.99, 1.0)]
        else:
            cells += ["", "", ""]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
