"""Trainables: functions, classes, and their bound parameters and resources."""
