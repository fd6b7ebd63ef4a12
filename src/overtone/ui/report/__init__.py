"""The report: the page in one file, with the answers that a server would give."""
