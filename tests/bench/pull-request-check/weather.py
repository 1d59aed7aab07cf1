"""Current weather and forecasts, with measurements that move."""

import random
import time
from datetime import datetime, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("weather")
CITIES = {
    "Oslo": (59.9, 10.7, 4.0), "Rome": (41.9, 12.5, 18.0), "Cairo": (30.0, 31.2, 29.0), "Lima": (-12.0, -77.0, 20.0),
    "Quito": (-0.2, -78.5, 14.0), "Perth": (-31.9, 115.9, 22.0), "Turin": (45.1, 7.7, 11.0), "Malmo": (55.6, 13.0, 7.0),
}


def place(city: str):
    if city not in CITIES:
        raise ToolError(f"Unknown city {city}. Known: {', '.join(sorted(CITIES))}.")
    return CITIES[city]


@mcp.tool
def get_weather(city: str, units: str = "metric") -> dict:
    """Current weather of a city: temperature, wind and humidity right now."""
    lat, lon, base = place(city)
    time.sleep(random.uniform(0.002, 0.008))
    celsius = base + random.uniform(-0.4, 0.4)
    temperature = celsius if units == "metric" else celsius * 1.8 + 32
    wind = 12.0 + lat / 10 + random.uniform(-1, 1)
    return {
        "city": city,
        "temperature": round(temperature, 2),
        "wind": {"speed": round(wind, 1), "unit": "km/h"},
        "humidity": random.randint(55, 65),
        "position": {"latitude": lat, "longitude": lon},
        "measured_at": datetime.now(timezone.utc).isoformat(),
    }


@mcp.tool
def forecast(city: str, days: int = 3) -> list[dict]:
    """Forecast for the coming days: highest temperature and rain for each day."""
    lat, _lon, base = place(city)
    rows = []
    for day in range(1, days + 1):
        high = base + 3 + day * 0.5
        rows.append({"day": day, "high": round(high, 1), "rain_mm": round(abs(lat) / 7 + day / 3, 2)})
    return rows


@mcp.tool
def describe(city: str) -> str:
    """Describe the climate of a city in a sentence."""
    _lat, _lon, base = place(city)
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{city} has {base + random.uniform(-0.3, 0.3):.1f} °C on average (computed {now})."
