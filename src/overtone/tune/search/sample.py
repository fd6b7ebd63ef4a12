"""Kept for imports of `tune.search.sample`: domains, as classes and by their functions, and samplers."""

from overtone.space import Categorical, Domain, Float, Function, Integer, Normal
from overtone.space.dsl import (
    choice,
    grid_search,
    lograndint,
    loguniform,
    qlograndint,
    qloguniform,
    qrandint,
    qrandn,
    quniform,
    randint,
    randn,
    sample_from,
    uniform,
)
from overtone.space.samplers import BaseSampler, Grid, LogUniform, Quantized, Sampler, Uniform

__all__ = [
    "BaseSampler",
    "Categorical",
    "Domain",
    "Float",
    "Function",
    "Grid",
    "Integer",
    "LogUniform",
    "Normal",
    "Quantized",
    "Sampler",
    "Uniform",
    "choice",
    "grid_search",
    "lograndint",
    "loguniform",
    "qlograndint",
    "qloguniform",
    "qrandint",
    "qrandn",
    "quniform",
    "randint",
    "randn",
    "sample_from",
    "uniform",
]
