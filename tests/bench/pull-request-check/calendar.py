"""A calendar: events of a day, free times, event details."""

import itertools
import random
import secrets
import time
from datetime import datetime, timedelta, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("calendar")
ROOMS = ["Maple", "Cedar", "Willow"]
FIRST = datetime(2026, 5, 4, 8, 0, tzinfo=timezone.utc)
EVENTS = {}
for at in range(60):
    begin = FIRST + timedelta(days=at // 4, hours=at % 4 * 2, minutes=at % 3 * 15)
    EVENTS[f"evt{at:03d}"] = {
        "event": f"evt{at:03d}",
        "subject": f"Meeting {at}",
        "room": ROOMS[at % 3],
        "begin": begin.isoformat(),
        "end": (begin + timedelta(minutes=30 + at % 2 * 30)).isoformat(),
        "minutes": 30 + at % 2 * 30,
        "guests": [f"guest{n}@example.com" for n in range(at % 4 + 1)],
    }


@mcp.tool
def events_of_day(day: str, room: str | None = None) -> dict:
    """List the events of a day in their order."""
    found = [e for e in EVENTS.values() if e["begin"].startswith(day) and room in (None, e["room"])]
    time.sleep(random.uniform(0.001, 0.004))
    return {"day": day, "events": found, "sync_token": secrets.token_urlsafe(16), "now": time.time()}


@mcp.tool
def event_details(event: str) -> dict:
    """Details of an event with its guests."""
    if event not in EVENTS:
        raise ToolError(f"Event {event} was not found in this calendar")
    guests = EVENTS[event]["guests"]
    answers = {guest: random.choice(["yes", "no", "maybe"]) for guest in guests}
    return {**EVENTS[event], "answers": answers, "join": f"https://meet.example/{secrets.token_hex(5)}"}


@mcp.tool
def free_slots(day: str, minutes: int = 30) -> list[dict]:
    """Free times on a day that are long enough."""
    busy = sorted((e["begin"], e["end"]) for e in EVENTS.values() if e["begin"].startswith(day))
    slots = []
    for (_, end), (begin, _) in itertools.pairwise(busy):
        gap = datetime.fromisoformat(begin) - datetime.fromisoformat(end)
        if gap >= timedelta(minutes=minutes):
            slots.append({"from": end, "to": begin, "minutes": int(gap.total_seconds() // 60)})
    return slots
