"""The journal of an experiment: writing, following, and replay to the same state."""
