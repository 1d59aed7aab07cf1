"""A directory of users: search, profile, sessions."""

import random
import time
import uuid
from datetime import datetime, timedelta, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("users")
GROUPS = ["red", "green", "blue"]
JOINED = datetime(2024, 2, 29, 12, 30, 15, tzinfo=timezone.utc)
USERS = [
    {
        "id": str(uuid.UUID(int=0x5EED0000 + at * 7919)),
        "login": f"user{at}",
        "group": GROUPS[at % 3],
        "height_m": round(1.5 + at % 50 / 100, 2),
        "joined": (JOINED + timedelta(days=at * 9)).isoformat(),
        "active": at % 6 != 0,
        "storage_mb": round(at * 17.25, 2),
    }
    for at in range(45)
]
API_CALLS = {user["login"]: random.randint(1000, 9000) for user in USERS}


@mcp.tool
def find_users(group: str, page: int = 1) -> dict:
    """Find users of a group, in pages of six."""
    if group not in GROUPS:
        raise ToolError(f"Group {group} is unknown.")
    found = [u for u in USERS if u["group"] == group]
    return {"page": page, "users": found[(page - 1) * 6 : page * 6], "generated": datetime.now(timezone.utc).isoformat()}


@mcp.tool
def profile(login: str, verbose: bool = False) -> dict:
    """Profile of a user by the login."""
    time.sleep(random.uniform(0.004, 0.009))
    for user in USERS:
        if user["login"] == login:
            API_CALLS[login] += 1
            more = {"calls": API_CALLS[login], "load": round(random.uniform(0.1, 0.9), 3)} if verbose else {}
            return {**user, **more, "last_seen": int(time.time()) - random.randint(1, 60)}
    raise ToolError(f"User {login} was not found")


@mcp.tool
def storage_report(group: str | None = None) -> str:
    """Report how much storage the users of a group use."""
    chosen = [u for u in USERS if group in (None, u["group"])]
    total = sum(u["storage_mb"] for u in chosen)
    return f"{len(chosen)} users use {total:.2f} MB, {total / len(chosen):.2f} MB each (report {uuid.uuid4()})"
