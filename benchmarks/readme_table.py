"""Writes the figures that `throughput.py --json FILE` found into the tables of the two READMEs.

python benchmarks/readme_table.py figures.json
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_TABLE = re.compile(r"(<!-- figures -->\n).*?(<!-- /figures -->)", re.DOTALL)
_ROWS = {
    "trials_fresh": ("trials a second, each in a process of its own", "每秒试验数，每个试验一个新进程"),
    "trials_reuse": ("trials a second, processes reused", "每秒试验数，复用进程"),
    "results": ("results a second, none lost", "每秒结果数，无一丢失"),
    "results_tensorboard": ("the same, with TensorBoard", "同上，并写入 TensorBoard"),
    "report_median": ("what `report()` costs its caller, median", "`report()` 对调用者的耗时，中位数"),
    "report_p99": ("the same, 99th percentile", "同上，99 百分位"),
    "report_ruled": ("`report()` that waits for a ruling, median", "等待裁决的 `report()`，中位数"),
    "import_time": ("`from ... import tune`", "`from ... import tune`"),
    "first_result": ("start of Python to the first result", "从启动 Python 到第一个结果"),
    "driver_memory": ("driver's memory above the user's imports", "驱动进程内存（不含用户导入）"),
    "trial_memory": ("the same, for each finished trial", "同上，每个已结束的试验"),
    "controller_growth": (
        "controller's cost per result, 100,000 trials over 1,000",
        "控制器处理每个结果的开销，10 万个试验与 1 千个之比",
    ),
    "demo_cpu": ("CPU time of trials / (wall x cores), demo", "演示：试验 CPU 时间 /（总时间 × 核数）"),
}


def amount(found: dict[str, Any] | None) -> str:
    """A value with its unit, in three digits; "–" where there is none."""
    if not found:
        return "–"
    value = found["value"]
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"{shown} {found['unit']}".replace(" /s", "").strip()


def main() -> None:
    figures = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    for page, language in (("README.md", 0), ("README.zh-CN.md", 1)):
        head = (("figure", "指标")[language], "Overtone", "Ray Tune 2.60")
        rows: list[tuple[str, ...]] = [head, ("---",) * 3]
        for name, titles in _ROWS.items():
            if name in figures:
                both = (amount(figures[name][side]) for side in ("overtone", "peer"))
                rows.append((titles[language], *both))
        table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
        path = ROOT / page
        text = path.read_text("utf-8")
        text = _TABLE.sub(lambda found, table=table: found[1] + table + found[2], text)  # type: ignore[misc]
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
