"""The engine for one machine: each trial runs in a separate operating system process.

`Local` is imported on first use, so that `prestart` starts a server before the engine is loaded.
"""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
