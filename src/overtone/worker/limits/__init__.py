"""Limits of trials: time, CPU time and memory, and who holds trials to them."""
