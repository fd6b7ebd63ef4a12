"""Trials as columns: arrays that open in a moment, for 100,000 trials too."""
