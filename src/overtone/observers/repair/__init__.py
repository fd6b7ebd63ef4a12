"""Checks the files of trials against the journal, and writes what is missing."""
