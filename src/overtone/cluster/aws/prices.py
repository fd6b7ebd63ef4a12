"""Today's prices of spot machines, as AWS's API gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def spot_prices(ec2: Any, node_types: Sequence[str]) -> dict[str, float]:
    """Return the lowest price now among the region's zones, in US dollars an hour, by machine type.

    Args:
        ec2: The client of EC2 in the region.
        node_types: Machine types; those without a price are left out.
    """
    from datetime import datetime, timezone

    prices: dict[str, float] = {}
    pages = ec2.get_paginator("describe_spot_price_history").paginate(
        InstanceTypes=list(node_types),
        ProductDescriptions=["Linux/UNIX", "Linux/UNIX (Amazon VPC)"],
        StartTime=datetime.now(timezone.utc),  # the price of now alone
    )
    for page in pages:
        for one in page["SpotPriceHistory"]:
            price = float(one["SpotPrice"])
            prices[one["InstanceType"]] = min(price, prices.get(one["InstanceType"], price))
    return prices
