"""The figures of plots: each a function from the numbers of a plot to a scene."""
