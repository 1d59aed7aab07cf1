import type { BenchServer } from "./bench-server.ts";

const cities = ["Oslo", "Rome", "Cairo", "Lima", "Perth"];

export const weather: BenchServer = {
  name: "weather",
  calls: [
    ...cities.map((city) => ["get_weather", { city }] as const),
    ["get_weather", { city: "Turin", units: "imperial" }],
    ["get_weather", { city: "Atlantis" }],
    ...cities.slice(0, 3).map((city) => ["forecast", { city }] as const),
    ["forecast", { city: "Malmo", days: 7 }],
    ["describe", { city: "Oslo" }],
    ["describe", { city: "Quito" }],
  ],
  questions: [
    "What is the current temperature in Oslo?",
    "What is the forecast for the coming days in Rome?",
    "Describe the climate of Lima in a sentence.",
  ],
  faults: [
    {
      what: "argument city renamed to location",
      change: [
        [
          "def forecast(city: str, days: int = 3) -> list[dict]:",
          "def forecast(location: str, days: int = 3) -> list[dict]:",
        ],
        ["lat, _lon, base = place(city)\n    rows", "lat, _lon, base = place(location)\n    rows"],
      ],
    },
    {
      what: "metric temperatures in Fahrenheit",
      change: [['celsius if units == "metric" else', "celsius * 1.8 + 32 if True else"]],
    },
    { what: "wind in miles an hour, still called km/h", change: [["round(wind, 1)", "round(wind * 0.6214, 1)"]] },
    { what: "field humidity lost", change: [['        "humidity": random.randint(55, 65),\n', ""]] },
    { what: "default of days changed", change: [["days: int = 3", "days: int = 5"]] },
    {
      what: "forecast named as current weather",
      change: [
        [
          "Forecast for the coming days: highest temperature and rain for each day.",
          "Current temperature, weather and rain in a city now, what is it.",
        ],
      ],
    },
  ],
  harmless: [
    { what: "comment", change: [["def place(", "# Cities are spelled as in the table.\ndef place("]] },
    {
      what: "fields in another order",
      change: [
        [
          '        "city": city,\n        "temperature": round(temperature, 2),\n',
          '        "temperature": round(temperature, 2),\n        "city": city,\n',
        ],
      ],
    },
    { what: "faster", change: [["random.uniform(0.002, 0.008)", "0.001"]] },
    {
      what: "new field",
      change: [
        ['        "humidity": random', '        "feels_like": round(temperature - 1, 1),\n        "humidity": random'],
      ],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef describe",
          '@mcp.tool\ndef cities() -> list[str]:\n    """Names of all places."""\n    return sorted(CITIES)\n\n\n@mcp.tool\ndef describe',
        ],
      ],
    },
    {
      what: "loop as comprehension",
      change: [
        [
          '    rows = []\n    for day in range(1, days + 1):\n        high = base + 3 + day * 0.5\n        rows.append({"day": day, "high": round(high, 1), "rain_mm": round(abs(lat) / 7 + day / 3, 2)})\n    return rows',
          '    def row(day: int) -> dict:\n        high = base + 3 + day * 0.5\n        return {"day": day, "high": round(high, 1), "rain_mm": round(abs(lat) / 7 + day / 3, 2)}\n\n    return [row(day) for day in range(1, days + 1)]',
        ],
      ],
    },
    {
      what: "logging",
      change: [
        ["mcp = FastMCP", 'import logging\n\nlog = logging.getLogger("weather")\nmcp = FastMCP'],
        [
          "    lat, lon, base = place(city)\n",
          '    lat, lon, base = place(city)\n    log.info("weather of %s", city)\n',
        ],
      ],
    },
    {
      what: "new optional argument",
      change: [["def describe(city: str) -> str:", 'def describe(city: str, language: str = "en") -> str:']],
    },
    { what: "asynchronous", change: [["def describe(", "async def describe("]] },
    {
      what: "measurement drawn in another way",
      change: [["base + random.uniform(-0.4, 0.4)", "base + random.triangular(-0.4, 0.4)"]],
    },
  ],
};
