"""The server on most pictures of the documentation: gauges, locks and moorings of a few canals."""

import os

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("Tide gauges", instructions="Water levels, locks and moorings of the Lowland canals.")

UNIT = os.environ.get("LEVEL_UNIT", "cm")
LEVELS = {"Delft": 47, "Gouda": 55, "Haarlem": 31, "Leiden": 42}
LOCKS = {"Leidschendam": "open", "Spaarne": "open", "Juliana": "closed until 18:30"}
MOORINGS = {"Leiden": [("Haven", 15), ("Zijlpoort", 12)], "Gouda": [("Turfsingel", 18)]}


def level_at(gauge: str) -> int:
    return LEVELS[gauge]


@mcp.tool(annotations={"readOnlyHint": True})
def water_level(gauge: str, hours: int = 6) -> dict[str, object]:
    """Water level at a gauge now and in the next hours."""
    level = level_at(gauge)
    print(f"{gauge}: {level} {UNIT}, {hours} hours asked")
    return {"gauge": gauge, "now": level, "unit": UNIT, "next": [level + step % 3 for step in range(hours)]}


@mcp.tool(annotations={"readOnlyHint": True})
def lock_status(lock: str) -> str:
    """Whether a lock is open, and until when."""
    if lock not in LOCKS:
        raise ToolError("There is no such lock. Try Leidschendam or Spaarne.")
    return f"{lock} is {LOCKS[lock]}"


@mcp.tool(annotations={"readOnlyHint": True})
def find_moorings(near: str, length: float = 12) -> list[dict[str, object]]:
    """Free moorings near a place for a boat of this length, in meters."""
    free = [{"name": name, "meters": meters} for name, meters in MOORINGS.get(near, []) if meters >= length]
    print(f"{len(free)} moorings near {near} for {length:g} m")
    return free


@mcp.tool(annotations={"destructiveHint": True})
def book_mooring(name: str, nights: int) -> str:
    """Book a mooring for some nights."""
    return f"{name} is yours for {nights} nights."


@mcp.resource("gauges://all")
def gauges() -> list[str]:
    """Names of all gauges."""
    return list(LEVELS)


@mcp.resource("gauges://{name}/history")
def history(name: str) -> str:
    """The level of a gauge on each of the last seven days."""
    return ", ".join(str(level_at(name) + day % 4) for day in range(7))


@mcp.prompt
def plan_trip(start: str, end: str) -> str:
    """Plan a trip by boat."""
    return f"Look up levels, locks and moorings between {start} and {end}, and plan a trip."
