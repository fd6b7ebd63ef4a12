"""Brings a request to an experiment's driver, also to one on another machine of a cluster."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from overtone.control.answers import Answer
from overtone.control.client import DriverElsewhereError, send
from overtone.core.messages import Requested


def deliver(folder: Path, event: Requested) -> Answer:
    """Make a request to an experiment, through Ray if its driver is on another machine of the cluster.

    Ray is used if this process is connected to a cluster, or RAY_ADDRESS names one.

    Raises:
        ControlError: See `send`.
        OvertoneError: The cluster cannot be reached.
    """
    try:
        return send(folder, event)
    except DriverElsewhereError as error:
        ray = sys.modules.get("ray")
        if not os.environ.get("RAY_ADDRESS") and not (ray is not None and ray.is_initialized()):
            raise
        from overtone.engines.ray.control_relay import send_over_ray

        return send_over_ray(folder, event, error.hostname)
