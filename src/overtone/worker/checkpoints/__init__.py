"""Checkpoints of a trial: creation, saving, loading and the times of saves."""
