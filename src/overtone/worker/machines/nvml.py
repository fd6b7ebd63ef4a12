"""NVML, NVIDIA's library that tells what GPUs do."""

from __future__ import annotations

import os
from typing import Any


def opened() -> Any | None:
    """Return the module `pynvml` with NVML open; None without a driver, the package or the right to it.

    NVML stays open: opening it takes long.
    """
    if os.path.isdir("/dev") and not any(os.path.exists(f"/dev/{one}") for one in ("nvidiactl", "dxg")):
        return None  # spares the import
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # no driver, no package, or no right
        return None
    return pynvml
