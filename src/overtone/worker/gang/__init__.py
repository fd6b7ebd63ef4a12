"""Gangs: the ranks of distributed training inside a trial, and their head."""
