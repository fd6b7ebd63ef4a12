"""Schedulers: one algorithm, one short file."""
