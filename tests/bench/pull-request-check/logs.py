"""Logs of services: tail that grows, counts, slow requests."""

import random
import time
import uuid
from datetime import datetime, timedelta, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("logs")
SERVICES = ["api", "web", "jobs"]
LEVELS = ["info", "warning", "error"]
MESSAGES = ["request served", "cache missed", "retry of a call", "connection closed", "queue is long"]


@mcp.tool
def tail(service: str, lines: int = 8, level: str | None = None) -> dict:
    """Newest lines of the log of a service."""
    if service not in SERVICES:
        raise ToolError(f"Service {service} has no log. Services: {', '.join(SERVICES)}")
    now = datetime.now(timezone.utc)
    entries = [
        {
            "at": (now - timedelta(seconds=n * 3 + random.random())).isoformat(timespec="milliseconds"),
            "level": level or random.choice(LEVELS),
            "message": random.choice(MESSAGES),
            "trace": uuid.uuid4().hex,
            "ms": round(random.expovariate(1 / 40), 1),
        }
        for n in range(lines)
    ]
    return {"service": service, "entries": entries, "cursor": str(uuid.uuid4())}


@mcp.tool
def count(service: str, hours: int = 24) -> dict:
    """Count lines by level in the past hours."""
    if service not in SERVICES:
        raise ToolError(f"Service {service} has no log. Services: {', '.join(SERVICES)}")
    base = (SERVICES.index(service) + 1) * 1000 * hours
    time.sleep(random.uniform(0.003, 0.006))
    counts = {"info": base + random.randint(0, 60), "warning": base // 10, "error": base // 100}
    return {"counts": counts, "share_of_errors": round(counts["error"] / sum(counts.values()), 5)}


@mcp.tool
def slowest(service: str, limit: int = 4) -> str:
    """Requests of a service that took longest, as a table."""
    if service not in SERVICES:
        raise ToolError(f"Service {service} has no log. Services: {', '.join(SERVICES)}")
    rows = [f"/{service}/path{n} | {2.5 - n * 0.3 + random.uniform(-0.02, 0.02):.2f} s" for n in range(limit)]
    return "path | duration\n" + "\n".join(rows)
