"""Samples of the machines of a run: how they are taken, and the files that hold them."""

EVERY_S = 5.0
"""Seconds from one sample to the next."""

DRIVER = "driver"
"""The name of the driver's machine on a cluster, where it may be a node as well."""
