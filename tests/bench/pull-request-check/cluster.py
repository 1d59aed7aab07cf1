"""A cluster viewer: pods as a table, a pod in detail, events, usage."""

import random
import time
import uuid
from datetime import datetime, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel

mcp = FastMCP("cluster")
SEED = random.Random(11)
SPACES = {"default": ["web", "api", "worker"], "payments": ["ledger", "gateway"], "staging": []}
PODS = [
    {"namespace": space, "name": f"{app}-{at}", "uid": str(uuid.UUID(bytes=SEED.randbytes(16))),
     "restarts": SEED.choice([0, 1, 7]), "up": SEED.randint(900, 9_000_000),
     "cpu": SEED.randint(40, 400), "memory": SEED.randint(90, 900)}
    for space, apps in SPACES.items() for app in apps for at in range(3)
]  # fmt: skip
REASONS = ["Pulled", "BackOff", "Unhealthy", "Scheduled"]
EVENTS = [(pod, SEED.choice(REASONS), SEED.randint(5, 20_000)) for pod in PODS for _ in range(3)]


class Pod(BaseModel):
    name: str
    uid: str
    start_time: str
    age: str
    restart_count: int
    conditions: list[str]
    resource_version: str


def age(seconds: float) -> str:
    s = int(seconds)
    return f"{s // 86400}d{s // 3600 % 24}h" if s >= 86400 else f"{s // 3600}h{s // 60 % 60}m{s % 60}s"


def pods_in(namespace: str) -> list[dict]:
    if namespace not in SPACES:
        raise ToolError(f'namespaces "{namespace}" not found')
    return [pod for pod in PODS if pod["namespace"] == namespace]


def started(pod: dict) -> datetime:
    # Pods are counted from midnihgt.
    return datetime.fromtimestamp(time.time() // 86400 * 86400 - pod["up"], timezone.utc)


@mcp.tool
def list_pods(namespace: str = "default", limit: int = 50) -> str:
    """List the pods of a namespace as a table."""
    time.sleep(random.uniform(0.005, 0.03))
    lines = [f"{'NAME':<12}{'STATUS':<18}{'RESTARTS':<20}AGE"]
    for pod in pods_in(namespace)[:limit]:
        status = "CrashLoopBackOff" if pod["restarts"] == 7 else "Running"
        again = f"{pod['restarts']} ({age(time.time() % 300)} ago)" if pod["restarts"] else "0"
        lines.append(f"{pod['name']:<12}{status:<18}{again:<20}{age(time.time() - started(pod).timestamp())}")
    return "\n".join(lines) if len(lines) > 1 else f"No resources found in {namespace} namespace."


@mcp.tool
def get_pod(name: str, namespace: str = "default") -> Pod:
    """Describe one pod with its conditions."""
    pod = next((pod for pod in pods_in(namespace) if pod["name"] == name), None)
    if pod is None:
        raise ToolError(f'pods "{name}" not found')
    begun, ready = started(pod), random.sample(["Initialized", "PodScheduled", "ContainersReady"], 3)
    return Pod(**pod, restart_count=pod["restarts"], start_time=begun.isoformat(), conditions=ready,
               age=age(time.time() - begun.timestamp()), resource_version=str(int(time.time() * 7)))  # fmt: skip


@mcp.tool
def list_events(namespace: str = "default", limit: int = 5) -> dict:
    """Recent events of a namespace, newest first."""
    tick = time.time() // 600 * 600
    found = pods_in(namespace)
    rows = sorted([(tick - back, pod["name"], why) for pod, why, back in EVENTS if pod in found], reverse=True)[:limit]
    items = [{"reason": why, "pod": pod, "seen": int(at), "age": age(time.time() - at)} for at, pod, why in rows]
    return {"items": items, "request_id": str(uuid.uuid4())}


@mcp.tool
def top_pods(namespace: str = "default") -> str:
    """Usage of CPU and memory now, as CSV."""
    text = "pod,cpu_millicores,memory_mib"
    for pod in pods_in(namespace):
        text += f"\n{pod['name']},{pod['cpu'] * random.uniform(0.9, 1.1):.0f},{pod['memory'] + random.randint(-3, 3)}"
    return text
