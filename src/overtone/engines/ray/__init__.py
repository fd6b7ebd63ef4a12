"""The engine for a Ray cluster: trials run on all its nodes, each in a separate process."""

from overtone.engines.ray.engine import Ray

__all__ = ["Ray"]
