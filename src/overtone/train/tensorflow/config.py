"""TensorFlow's cluster among ranks: TF_CONFIG, with the address of each."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overtone.train.backend import BackendConfig
from overtone.train.reserved_ports import reserve_address

if TYPE_CHECKING:
    from overtone.worker.gang.gang import Gang


@dataclass
class TensorflowConfig(BackendConfig):
    """Options for TensorFlow's cluster.

    Attributes:
        timeout_s: Longest time that a rank may let the others wait in `report`, in seconds.
    """

    timeout_s: float = 1800.0

    @contextmanager
    def head_context(self, gang: Gang) -> Iterator[None]:
        """Reserve a port in each rank, and set TF_CONFIG in all ranks."""
        addresses = gang.call(reserve_address)
        gang.call(set_cluster, addresses)
        yield


def set_cluster(addresses: list[str]) -> None:
    """Set TF_CONFIG, which TensorFlow's strategies read; the head has each rank call it.

    Keras 3 does not train under this strategy: if `tf_keras` is installed, `tf.keras` is Keras 2.
    """
    from overtone.worker.session.current import current

    task = {"type": "worker", "index": current().get_world_rank()}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": addresses}, "task": task})
    if importlib.util.find_spec("tf_keras") is not None:
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
