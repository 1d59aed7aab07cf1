"""Public transport: departures that move, trips, alerts."""

import random
import time
import uuid
from datetime import datetime, timedelta, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("transit")
LINES = {"T1": ["Harbor", "Market", "Castle", "Park"], "T2": ["Airport", "Market", "Stadium"], "B7": ["Castle", "Lake"]}
SERVED = {"total": random.randint(10_000, 20_000)}


def check(stop: str) -> None:
    if all(stop not in stops for stops in LINES.values()):
        raise ToolError(f"Stop '{stop}' is not served (trace {uuid.uuid4()})")


@mcp.tool
def departures(stop: str, limit: int | None = None) -> dict:
    """Next departures from a stop with their delays."""
    check(stop)
    SERVED["total"] += 1
    now = datetime.now(timezone.utc)
    rows = [
        {
            "line": line,
            "vehicle": f"{line.lower()}-{uuid.uuid4().hex[:6]}",
            "leaves": (now + timedelta(minutes=3 + 7 * at)).isoformat(timespec="seconds"),
            "delay_s": random.choice([0, 0, 30, 60, 90, 120]),
            "platform": random.choice(["a", "b"]),
            "occupancy": random.choice(["low", "medium", "high", None]),
        }
        for line, stops in LINES.items()
        if stop in stops
        for at in range(random.randint(2, 4))
    ]
    return {"stop": stop, "departures": rows[:limit], "served": SERVED["total"]}


@mcp.tool
def trip(start: str, end: str) -> dict:
    """Plan a trip from a start to an end."""
    check(start)
    check(end)
    time.sleep(random.uniform(0.01, 0.03))
    for line, stops in LINES.items():
        if start in stops and end in stops:
            hops = abs(stops.index(start) - stops.index(end))
            return {
                "line": line,
                "hops": hops,
                "km": round(hops * 1.85, 2),
                "minutes": round(hops * 4.2 + random.gauss(0, 0.3), 1),
                "price": {"amount": 2.4 + hops * 0.35, "currency": "EUR"},
            }
    return {"line": None, "hops": 0, "km": 0, "minutes": None, "price": None}


@mcp.tool
def lines(detail: bool = False) -> str:
    """Table of the lines and how long they are."""
    rows = [f"{name}: {len(stops)} stops, {(len(stops) - 1) * 1.85:.1f} km" for name, stops in LINES.items()]
    if detail:
        rows = [f"{row} ({' - '.join(LINES[row[:2]])})" for row in rows]
    return "\n".join([*rows, f"as of {time.strftime('%H:%M:%S')}"])
