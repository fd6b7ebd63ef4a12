"""Engines, which run trials: as processes, as calls in this process, or in simulated time."""
