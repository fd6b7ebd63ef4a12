"""Results of an experiment, read from its journal: running, finished, or a copy of its folder."""

from overtone.errors import TuneError
from overtone.lazy import attach
from overtone.uncaught import explain_uncaught

explain_uncaught(TuneError)

__getattr__, __dir__ = attach(__name__)
