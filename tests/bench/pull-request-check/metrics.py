"""Metrics of servers: values now, histories in windows that end now, alerts."""

import math
import random
import time
from datetime import datetime, timezone
from typing import Literal

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel

mcp = FastMCP("metrics")
HOSTS = ["web-1", "web-2", "db-1"]
METRICS = {
    "http_request_duration_seconds": ("seconds", 0.24, "Mean duration of the requests"),
    "http_error_ratio": ("ratio", 0.034, "Part of the requests that failed"),
    "queue_depth": ("messages", 420, "Messages that wait"),
    "memory_used_bytes": ("bytes", 6.2e9, "Memory that is in use"),
}
ALERTS = [  # severity, name, minutes since it began, metric
    ("critical", "HighErrorRatio", 47, "http_error_ratio"),
    ("warning", "QueueGrows", 190, "queue_depth"),
]


class Point(BaseModel):
    time: str
    value: float


class Series(BaseModel):
    unit: str
    points: list[Point]
    average: float
    elapsed_ms: float


def measured(metric: str, host: str, at: float) -> float:
    # What is stored for a tiem.
    noise = random.Random(f"{metric} {host} {int(at)}").uniform(-0.06, 0.06)
    wave = 0.12 * math.sin(at / 900 + HOSTS.index(host))
    return METRICS[metric][1] * (1 + wave + noise)


def check(metric: str, host: str = "web-1") -> None:
    if metric not in METRICS or host not in HOSTS:
        raise ToolError(f"unknown metric or host: {metric} {host}")


@mcp.tool
def query(metric: str) -> list[dict]:
    """Current value of a metric on each host, in no order."""
    check(metric)
    now = time.time()
    values = {host: round(measured(metric, host, now), 4) for host in random.sample(HOSTS, len(HOSTS))}
    return [{"host": host, "value": value, "timestamp": round(now, 3)} for host, value in values.items()]


@mcp.tool
def query_range(metric: str, host: str = "web-1", minutes: int = 15, step: int = 60) -> Series:
    """History of a metric over the last minutes, oldest first."""
    begun = time.perf_counter()
    check(metric, host)
    end = time.time() // step * step
    times = [end - step * back for back in reversed(range(minutes * 60 // step))]
    values = [round(measured(metric, host, at), 4) for at in times]
    stamps = [datetime.fromtimestamp(at, timezone.utc).isoformat() for at in times]
    time.sleep(random.uniform(0.005, 0.025))
    points = [Point(time=stamp, value=value) for stamp, value in zip(stamps, values, strict=True)]
    return Series(unit=METRICS[metric][0], points=points, average=round(sum(values) / len(values), 4),
                  elapsed_ms=round((time.perf_counter() - begun) * 1000, 2))  # fmt: skip


@mcp.tool
def alerts(severity: Literal["critical", "warning"] | None = None) -> str:
    """Alerts that fire, as Markdown."""
    lines = ["# Firing"]
    for level, name, since, metric in ALERTS:
        if severity in (None, level):
            value, minutes = measured(metric, "web-1", time.time()), since + int(time.time() % 3600 // 60)
            lines.append(f"- **{name}** ({level}) for {minutes} min, value {value:.3g}")
    return "\n".join(lines)


@mcp.tool
def list_metrics(prefix: str = "") -> str:
    """Names of the metrics with their units, as CSV."""
    rows = [f"{name},{unit},{text}" for name, (unit, _, text) in METRICS.items() if name.startswith(prefix)]
    return "\n".join(["name,unit,help", *rows])
