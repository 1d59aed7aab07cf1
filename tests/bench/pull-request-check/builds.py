"""Builds of projects that go on while one looks: status, log, summary."""

import random
import time
import uuid
from datetime import date, datetime, timedelta, timezone
from typing import Literal

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel

mcp = FastMCP("builds")
PROJECTS = {"engine": 184.0, "site": 61.5, "docs": 20.25}
STEPS = ["checkout", "install", "compile", "test", "package"]


class Build(BaseModel):
    number: int
    project: str
    commit: str
    state: Literal["queued", "running", "passed", "failed"]
    progress: float
    elapsed: str
    started: datetime
    runner: str | None
    usual_seconds: float


def usual(project: str) -> float:
    if project not in PROJECTS:
        raise ToolError(f"Project '{project}' not found; request-id={uuid.uuid4()}")
    return PROJECTS[project]


@mcp.tool
def build_status(project: str) -> Build:
    """Status of the latest build of a project right now."""
    seconds = usual(project)
    done = random.random()
    ran = done * seconds
    return Build(
        number=int(time.time() // 2) - 800_000_000,
        project=project,
        commit=random.randbytes(20).hex(),
        state=random.choice(["running", "running", "passed", "failed"]),
        progress=round(done, 2),
        elapsed=f"{int(ran // 60)}m {int(ran % 60):02d}s",
        started=datetime.now(timezone.utc) - timedelta(seconds=ran),
        runner=f"runner-{random.randint(1, 6)}" if done > 0.1 else None,
        usual_seconds=seconds,
    )


@mcp.tool
def build_log(project: str, step: str = "test", lines: int = 6) -> str:
    """Log of a step of the latest build, its last lines."""
    usual(project)
    if step not in STEPS:
        raise ToolError(f"Step must be one of: {', '.join(STEPS)}")
    at = datetime.now()
    rows = []
    for n in range(lines):
        moment = at + timedelta(milliseconds=n * 37)
        rows.append(f"[{moment:%H:%M:%S.%f}] {project}/{step}: part {n + 1} of {lines}")
    return "\n".join([*rows, f"{step} took {random.gauss(12, 0.4):.2f}s, worker pid {random.randint(300, 9000)}"])


@mcp.tool
def build_summary(project: str, days: int = 4) -> dict:
    """Summary of the builds of the past days: counts, pass rate, slowest step."""
    seconds = usual(project)
    time.sleep(random.uniform(0.003, 0.009))
    per_day = {}
    for n in range(days):
        builds = 12 + n * 5
        per_day[(date.today() - timedelta(days=n)).isoformat()] = {"builds": builds, "failed": builds // 6}
    failed, built = (sum(d[key] for d in per_day.values()) for key in ("failed", "builds"))
    return {
        "project": project,
        "per_day": per_day,
        "pass_rate": round(1 - failed / built, 3),
        "p95_seconds": round(seconds * random.uniform(1.19, 1.21), 1),
        "slowest_step": "test" if seconds > 50 else "install",
        "flaky": random.sample(["login", "upload", "search", "export", "theme"], random.randint(0, 3)),
        "badge": f"https://ci.example/badge/{project}.svg?v={uuid.uuid4().hex[:8]}",
    }
