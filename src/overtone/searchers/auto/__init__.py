"""`search_alg="auto"`: the searcher, and the models that it is made of."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
