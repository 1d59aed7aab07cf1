"""A help desk: search, one ticket, create."""

import itertools
import random
import secrets
import time
from datetime import datetime, timedelta, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("tickets")
counter = itertools.count(random.randint(1, 100_000))
WORDS = ["printer", "login", "invoice", "keyboard", "network", "email"]
STATES = ["open", "waiting", "closed"]
OPENED = datetime(2026, 3, 1, 9, 0, tzinfo=timezone.utc)
TICKETS = {
    at: {
        "id": at,
        "title": f"Problem with {WORDS[at % 6]} {at}",
        "state": STATES[at % 3],
        "priority": at % 5 + 1,
        "opened": (OPENED + timedelta(hours=at * 7)).isoformat(),
        "minutes_spent": at * 11 % 240,
        "assignee": {"name": f"Agent {at % 4}", "email": f"agent{at % 4}@desk.example"} if at % 4 else None,
    }
    for at in range(1, 41)
}


@mcp.tool
def search_tickets(text: str, state: str | None = None, limit: int = 5) -> dict:
    """Search tickets by words in their title."""
    began = time.perf_counter()
    found = [t for t in TICKETS.values() if text.lower() in t["title"].lower() and state in (None, t["state"])]
    random.shuffle(found := found[:limit])
    return {
        "query": next(counter),
        "tickets": found,
        "took_ms": round((time.perf_counter() - began) * 1000, 3),
    }


@mcp.tool
def get_ticket(id: int) -> dict:
    """Show one ticket with its assignee and the time spent."""
    if id not in TICKETS:
        raise ToolError(f"Ticket {id} does not exist. Search for it by its title.")
    ticket = TICKETS[id]
    return {**ticket, "etag": secrets.token_hex(8), "viewers": random.randint(1, 4)}


@mcp.tool
def statistics() -> dict:
    """Count tickets by state, with the mean time spent."""
    spent = [t["minutes_spent"] for t in TICKETS.values()]
    return {
        "by_state": {state: sum(t["state"] == state for t in TICKETS.values()) for state in STATES},
        "mean_minutes": round(sum(spent) / len(spent), 2),
        "at": datetime.now(timezone.utc).isoformat(),
    }
