"""Search spaces: domains, how users write them, and what can be made of them."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
