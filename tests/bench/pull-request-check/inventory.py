"""Stock of a warehouse: items, levels that move, reservations."""

import random
import time
import uuid
from datetime import datetime, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel

mcp = FastMCP("inventory")


class Item(BaseModel):
    sku: str
    name: str
    weight_kg: float
    price: float
    on_hand: int
    shelf: str | None = None


NAMES = ["bolt", "nut", "washer", "bracket", "hinge", "screw"]
ITEMS = {
    f"SKU-{at:04d}": Item(
        sku=f"SKU-{at:04d}",
        name=f"{NAMES[at % 6]} {at}",
        weight_kg=round(0.05 + at * 0.137, 3),
        price=round(0.99 + at * 0.45, 2),
        on_hand=20 + at * 3,
        shelf=f"{'ABC'[at % 3]}{at % 9}" if at % 5 else None,
    )
    for at in range(1, 36)
}


@mcp.tool
def get_item(sku: str) -> Item:
    """Look up an item of the stock by its SKU."""
    if sku not in ITEMS:
        raise ToolError(f"SKU {sku} is not stocked")
    item = ITEMS[sku]
    return item.model_copy(update={"on_hand": item.on_hand + random.randint(-2, 2)})


@mcp.tool
def low_stock(threshold: int = 35) -> list[Item]:
    """All items of which fewer than the threshold are left."""
    low = [item for item in ITEMS.values() if item.on_hand < threshold]
    random.shuffle(low)
    return low


@mcp.tool
def quote(sku: str, quantity: int, express: bool = False) -> dict:
    """Quote the price and shipping of a quantity."""
    time.sleep(random.uniform(0.01, 0.02))
    if sku not in ITEMS:
        raise ToolError(f"SKU {sku} is not stocked")
    item = ITEMS[sku]
    weight = item.weight_kg * quantity
    shipping = 4.9 + weight * 0.35 + (7.5 if express else 0)
    return {
        "quote": f"q_{uuid.uuid4().hex[:12]}",
        "valid_until": int(time.time()) + 3600,
        "price": round(item.price * quantity, 2),
        "shipping": round(shipping, 2),
        "weight": {"value": round(weight, 3), "unit": "kg"},
        "issued": datetime.now(timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT"),
    }
