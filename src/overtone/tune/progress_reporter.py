"""Kept for imports of `tune.progress_reporter`."""

from overtone.observers.display.reporters import CLIReporter, JupyterNotebookReporter, ProgressReporter

__all__ = ["CLIReporter", "JupyterNotebookReporter", "ProgressReporter"]
