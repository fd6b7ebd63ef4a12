"""The type of a batch of data, for annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Union  # noqa: UP035

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

DataBatchType = Union["np.ndarray", "pa.Table", "pd.DataFrame", Dict[str, "np.ndarray"]]  # noqa: UP006
"""An array, a table, a data frame, or arrays by column: read in annotations alone."""
