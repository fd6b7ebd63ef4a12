"""DataFrames in the form that LightGBM reads."""

from __future__ import annotations

from typing import Any


def normalize_pandas_for_lightgbm(df: Any) -> Any:
    """Return the DataFrame with numbers and booleans of Arrow in pandas' own types, which LightGBM reads.

    Args:
        df: A pandas DataFrame; columns of other types are those of the result, too.
    """
    import pandas as pd

    arrow = [name for name in df.columns if isinstance(df[name].dtype, pd.ArrowDtype)]
    numbers = [name for name in arrow if df[name].dtype.kind in "iufb"]
    if not numbers:
        return df
    return df.assign(**df[numbers].convert_dtypes(dtype_backend="numpy_nullable"))
