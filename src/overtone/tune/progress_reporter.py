"""Kept for imports of `tune.progress_reporter`."""

from overtone.observers.reporters import CLIReporter, JupyterNotebookReporter, ProgressReporter

__all__ = ["CLIReporter", "JupyterNotebookReporter", "ProgressReporter"]
