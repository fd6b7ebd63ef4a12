"""Comparing schedulers and searchers on the simulated engine: runs, statistics, plots, a report.

`compare` gives a frame, `report(frame, path)` a page of it, `plot_...` each plot, `medians` and
`speedups` the tables; `whatif` runs a finished experiment again under another scheduler.
"""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {
    "overtone.research.comparison": "compare",
    "overtone.research.rank_test": "Ranking friedman",
    "overtone.research.outcomes": "bests medians outcomes speedups",
    "overtone.research.over_time": "incumbents ranks_over_time",
    "overtone.research.plots": "plot_critical_differences plot_incumbents plot_ranks plot_times_to_target"
    " ranking",
    "overtone.research.problem": "Problem",
    "overtone.research.html_report": "report",
    "overtone.research.survival": "kaplan_meier median_time",
    "overtone.research.what_if": "WhatIf whatif",
}

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.research.comparison import compare as compare
    from overtone.research.html_report import report as report
    from overtone.research.outcomes import bests as bests
    from overtone.research.outcomes import medians as medians
    from overtone.research.outcomes import outcomes as outcomes
    from overtone.research.outcomes import speedups as speedups
    from overtone.research.over_time import incumbents as incumbents
    from overtone.research.over_time import ranks_over_time as ranks_over_time
    from overtone.research.plots import plot_critical_differences as plot_critical_differences
    from overtone.research.plots import plot_incumbents as plot_incumbents
    from overtone.research.plots import plot_ranks as plot_ranks
    from overtone.research.plots import plot_times_to_target as plot_times_to_target
    from overtone.research.plots import ranking as ranking
    from overtone.research.problem import Problem as Problem
    from overtone.research.rank_test import Ranking as Ranking
    from overtone.research.rank_test import friedman as friedman
    from overtone.research.survival import kaplan_meier as kaplan_meier
    from overtone.research.survival import median_time as median_time
    from overtone.research.what_if import WhatIf as WhatIf
    from overtone.research.what_if import whatif as whatif
else:
    __getattr__, __dir__ = attach(__name__, _NAMES)
