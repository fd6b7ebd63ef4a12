"""Trainables: functions, classes, and what is bound to them."""
