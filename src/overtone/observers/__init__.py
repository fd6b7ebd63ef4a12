"""Observers: they follow an experiment and write files and output for people and other programs."""
