"""Limits of trials (time, CPU time and memory) and their enforcement."""
