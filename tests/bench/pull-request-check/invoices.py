"""Invoices of customers: lists by page, one by number, totals."""

import random
import time
import uuid
from datetime import datetime, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("invoices")
CUSTOMERS = ["Acme", "Birch", "Cobalt", "Dune"]
INVOICES = [
    {
        "number": f"INV-{1000 + at}",
        "customer": CUSTOMERS[at % 4],
        "cents": 1999 + at * 1237,
        "due": f"2026-{at % 12 + 1:02d}-15",
        "paid": at % 3 == 0,
    }
    for at in range(60)
]


def shown(invoice: dict) -> dict:
    return {
        "number": invoice["number"],
        "customer": invoice["customer"],
        "amount": round(invoice["cents"] / 100, 2),
        "due": invoice["due"],
        "paid": invoice["paid"],
    }


@mcp.tool
def list_invoices(customer: str | None = None, page: int = 1, size: int = 10) -> dict:
    """List invoices, page by page, of all customers or of one."""
    time.sleep(random.uniform(0.001, 0.01))
    found = [each for each in INVOICES if customer is None or each["customer"] == customer]
    start = (page - 1) * size
    return {
        "request_id": str(uuid.uuid4()),
        "total": len(found),
        "items": [shown(each) for each in found[start : start + size]],
    }


@mcp.tool
def get_invoice(number: str) -> dict:
    """Get one invoice by its number."""
    for each in INVOICES:
        if each["number"] == number:
            return {**shown(each), "fetched_at": time.time()}
    raise ToolError(f"There is no invoice {number}.")


@mcp.tool
def sum_unpaid(customer: str) -> dict:
    """Sum of the unpaid amounts of a customer."""
    unpaid = [each["cents"] for each in INVOICES if each["customer"] == customer and not each["paid"]]
    return {
        "customer": customer,
        "count": len(unpaid),
        "average": round(sum(unpaid) / max(1, len(unpaid)) / 100, 2),
        "sum": sum(unpaid) / 100,
        "as_of": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
