"""Present prices of spot machines, as AWS's API gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def spot_prices(ec2: Any, node_types: Iterable[str]) -> dict[str, float]:
    """Return the lowest price now among the region's zones, in US dollars an hour, by machine type.

    A cost is said without it rather than not at all: without the right to ask, the answer is empty.

    Args:
        ec2: The client of EC2 in the region.
        node_types: Machine types; those without a price are left out.
    """
    from datetime import datetime, timezone

    from botocore.exceptions import BotoCoreError, ClientError

    wanted = sorted(set(node_types))
    if not wanted:
        return {}
    prices: dict[str, float] = {}
    try:
        pages = ec2.get_paginator("describe_spot_price_history").paginate(
            InstanceTypes=wanted,
            ProductDescriptions=["Linux/UNIX", "Linux/UNIX (Amazon VPC)"],
            StartTime=datetime.now(timezone.utc),  # the price of now alone
        )
        for page in pages:
            for one in page["SpotPriceHistory"]:
                price = float(one["SpotPrice"])
                prices[one["InstanceType"]] = min(price, prices.get(one["InstanceType"], price))
    except (BotoCoreError, ClientError):
        return {}
    return prices
