"""Comparing schedulers and searchers on the simulated engine: runs, statistics, plots, a report.

`compare` gives a frame, `report(frame, path)` a page of it, `plot_...` each plot, `medians` and
`speedups` the tables; `whatif` runs a finished experiment again under another scheduler.
"""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
