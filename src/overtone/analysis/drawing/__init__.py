"""Figures as descriptions, and their renderers: SVG, plotly, matplotlib."""
