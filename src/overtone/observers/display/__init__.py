"""Displays of a run: a live table, a notebook cell, plain lines, or a reporter of the user."""
