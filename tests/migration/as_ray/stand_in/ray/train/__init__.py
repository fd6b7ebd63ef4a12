# ruff: noqa
"""Not Overtone's."""

from ray import tune
