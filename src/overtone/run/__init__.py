"""The composition root: an Experiment becomes a controller, an engine, a journal and observers."""

from overtone.run.execute import Run, execute, start

__all__ = ["Run", "execute", "start"]
