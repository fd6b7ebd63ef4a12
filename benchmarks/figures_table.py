"""Writes the figures that `throughput.py --json FILE` found into the table of docs/benchmarks.md.

python benchmarks/figures_table.py figures.json
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
_TABLE = re.compile(r"(<!-- figures -->\n).*?(<!-- /figures -->)", re.DOTALL)
_ROWS = {
    "trials_fresh": "trials per second, each in its own process",
    "trials_reuse": "trials per second, processes reused",
    "results": "results per second, none lost",
    "results_tensorboard": "results per second, with TensorBoard files",
    "report_median": "time of `report()` in the trial, median",
    "report_p99": "time of `report()` in the trial, 99th percentile",
    "report_ruled": "time of `report()` if it waits for a decision, median",
    "import_time": "time of `from ... import tune`",
    "first_result": "start of Python to the first result",
    "driver_memory": "driver's memory above the user's imports",
    "trial_memory": "driver's memory for each finished trial",
    "controller_growth": "controller's time per result, 100,000 trials relative to 1,000",
    "demo_cpu": "CPU time of trials / (wall time x cores), demo",
}


def amount(found: dict[str, Any] | None) -> str:
    """Return a value with its unit, in three digits; "–" if there is no value."""
    if not found:
        return "–"
    value = found["value"]
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{shown} {found['unit']}".replace(" /s", "").strip()


def table(figures: dict[str, dict[str, Any]]) -> str:
    """Return the table of these figures, in the order of `_ROWS`."""
    rows: list[tuple[str, ...]] = [("figure", "Overtone", "Ray Tune 2.60"), ("---",) * 3]
    for name, title in _ROWS.items():
        if name in figures:
            rows.append((title, *(amount(figures[name][side]) for side in ("overtone", "peer"))))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    shown = table(json.loads(Path(sys.argv[1]).read_text("utf-8")))
    text = PAGE.read_text("utf-8")
    PAGE.write_text(_TABLE.sub(lambda found: found[1] + shown + found[2], text), "utf-8")


if __name__ == "__main__":
    main()
