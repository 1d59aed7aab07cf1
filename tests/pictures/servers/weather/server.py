"""The server on pictures of the documentation: a few tools that answer at once, and one that fails for unknown cities."""

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("Weather", instructions="Forecasts and warnings for cities in Europe.")

TEMPERATURES = {"Amsterdam": 11, "Bruges": 12, "Hamburg": 8, "Leeds": 9}


@mcp.tool(annotations={"readOnlyHint": True})
def forecast(city: str, days: int = 3) -> dict[str, object]:
    """Forecast for a city, for up to seven days."""
    if city not in TEMPERATURES:
        raise ToolError(f"There is no station near {city}. Try one of: {', '.join(TEMPERATURES)}.")
    start = TEMPERATURES[city]
    return {"city": city, "days": [{"day": day + 1, "high": start + day, "rain": day % 2 == 1} for day in range(days)]}


@mcp.tool(annotations={"readOnlyHint": True})
def warnings(region: str) -> list[str]:
    """Weather warnings that are in force in a region."""
    return [f"{region}: wind up to 70 km/h until the evening"]


@mcp.tool(annotations={"readOnlyHint": True})
def stations() -> list[str]:
    """Cities that have a weather station."""
    return list(TEMPERATURES)


@mcp.resource("weather://stations/{city}")
def station(city: str) -> str:
    """Where the station of a city stands."""
    return f"The station of {city} stands at its harbor."


@mcp.prompt
def packing_list(city: str) -> str:
    """What to pack for a trip."""
    return f"Look up the forecast for {city} and list what I should pack."
