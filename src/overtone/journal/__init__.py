"""The journal of an experiment: written once, followed, and replayed to the same state."""
