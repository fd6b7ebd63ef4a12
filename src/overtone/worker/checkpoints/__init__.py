"""Checkpoints of a trial: made, saved, loaded, and when."""
