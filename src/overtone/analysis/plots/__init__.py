"""The numbers of plots: each plot is a pure function from the columns of trials to a frozen dataclass.

Drawings (plotly, matplotlib, SVG, a page) read these dataclasses and compute nothing.
"""
