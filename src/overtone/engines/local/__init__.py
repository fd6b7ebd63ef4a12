"""The engine for one machine: each trial is an operating system process of its own."""

from overtone.engines.local.engine import Local

__all__ = ["Local"]
