"""Sweeps: a search that a file describes, over a program that knows nothing of it."""
