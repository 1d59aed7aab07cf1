"""Exchange rates that drift, conversions, history."""

import random
import time
from datetime import date, datetime, timedelta, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("currency")
RATES = {"EUR": 1.0, "USD": 1.0912, "GBP": 0.8541, "JPY": 163.2, "NOK": 11.61, "INR": 91.05, "CHF": 0.9578}
BORN = time.monotonic()


def rate_of(code: str) -> float:
    if code not in RATES:
        raise ToolError(f"{code} is not a known currency (request {random.randint(10**6, 10**7)})")
    return RATES[code] * random.uniform(0.998, 1.002)


@mcp.tool
def rate(base: str, target: str) -> dict:
    """Exchange rate between two currencies at this moment."""
    value = rate_of(target) / rate_of(base)
    return {
        "pair": f"{base}/{target}",
        "rate": round(value, 4),
        "bid": round(value * 0.999, 4),
        "ask": round(value * 1.001, 4),
        "at": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
        "uptime": round(time.monotonic() - BORN, 3),
    }


@mcp.tool
def convert(amount: float, base: str, target: str) -> str:
    """Convert an amount of money to another currency."""
    time.sleep(random.uniform(0.002, 0.006))
    value = amount * rate_of(target) / rate_of(base)
    return f"{amount:.2f} {base} = {value:.2f} {target}"


@mcp.tool
def history(code: str, days: int = 5) -> dict:
    """Past rates of a currency, one for each day."""
    if code not in RATES:
        raise ToolError(f"{code} is not a known currency")
    first = date(2026, 1, 10)
    rates = {(first - timedelta(days=n)).isoformat(): round(RATES[code] * (1 + n / 500), 4) for n in range(days)}
    return {"code": code, "rates": rates, "mean": round(sum(rates.values()) / max(1, len(rates)), 4)}
