"""The engine for one machine: each trial runs in a separate operating system process."""

from overtone.engines.local.engine import Local

__all__ = ["Local"]
