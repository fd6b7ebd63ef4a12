# ruff: noqa
NAME = "air"
