"""A memory as a knowledge graph: entities with observations, and relations between them."""

import random
import time
from datetime import datetime, timezone

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from typing_extensions import TypedDict

mcp = FastMCP("memory")
SEED = random.Random(23)
PEOPLE = ["Ada", "Bruno", "Chen", "Dora", "Emil", "Farah"]
PROJECTS = ["Atlas", "Beacon", "Comet", "Delta", "Ember", "Falcon"]
CITIES = ["Lyon", "Oslo", "Porto", "Quito", "Riga", "Turin"]
FACTS = ["prefers tea over coffee", "was started in spring", "needs a review on Friday", "is near the river",
         "uses Postgres", "has a budget of 40k", "speaks Norwegian", "moved in 2021"]  # fmt: skip


class Entity(TypedDict):
    name: str
    kind: str
    observations: list[str]
    created_at: int


class Graph(TypedDict):
    entities: list[Entity]
    next_cursor: str | None
    total: int


GRAPH: list[Entity] = [
    {"name": name, "kind": kind, "observations": SEED.sample(FACTS, SEED.randint(1, 3)),
     "created_at": 1_790_000_000 + SEED.randint(0, 4_000_000)}
    for kind, names in {"person": PEOPLE, "project": PROJECTS, "city": CITIES}.items() for name in names
]  # fmt: skip
RELATIONS = [(PEOPLE[at], PROJECTS[at], "works_on") for at in range(5)]
RELATIONS += [(PEOPLE[at], CITIES[at // 2], "lives_in") for at in range(5)]
READS = {"total": random.randint(100, 9_000)}


@mcp.tool
def read_graph(cursor: str = "", page_size: int = 5) -> Graph:
    """Read the whole graph, page by page."""
    time.sleep(random.uniform(0.002, 0.02))
    position = cursor.split(".")[0] or "0"
    if not position.isdigit():
        raise ToolError(f"Cursor '{cursor}' is not valid")
    start = int(position)
    end = start + page_size
    after = f"{end}.{random.randbytes(6).hex()}" if end < len(GRAPH) else None
    return {"entities": GRAPH[start:end], "next_cursor": after, "total": len(GRAPH)}


@mcp.tool
def search_nodes(query: str, limit: int = 4) -> list[dict]:
    """Search for nodes that mention a text."""
    rows = [(entity["name"], fact) for entity in GRAPH for fact in entity["observations"]]
    hits = [(name, fact) for name, fact in rows if query.lower() in f"{name} {fact}".lower()]
    score = 0.8 + random.uniform(-0.02, 0.02)
    hits = hits[:limit]
    return [{"name": name, "match": fact, "score": round(score - at * 0.05, 3)} for at, (name, fact) in enumerate(hits)]


@mcp.tool
def open_node(name: str) -> dict:
    """Open one entity by its exact name."""
    # The counter is not kept on restrat.
    READS["total"] += 1
    for entity in GRAPH:
        if entity["name"] == name:
            return {**entity, "read_at": datetime.now(timezone.utc).isoformat(), "reads": READS["total"]}
    raise ToolError(f"No entity is called '{name}'")


@mcp.tool
def relations(name: str, direction: str = "out") -> dict:
    """Relations of an entity, in no order: outgoing, or incoming with the direction in."""
    side = 1 if direction == "in" else 0
    found = [{"source": link[0], "target": link[1], "type": link[2]} for link in RELATIONS if link[side] == name]
    random.shuffle(found)
    return {"name": name, "relations": found, "took_ms": round(random.uniform(0.2, 4), 2)}


@mcp.tool
def recall(count: int = 3) -> str:
    """Some random observations as Markdown, to refresh the mind."""
    chosen = random.sample([(entity["name"], fact) for entity in GRAPH for fact in entity["observations"]], count)
    return "## Recalled\n" + "".join(f"\n- **{name}** {fact}" for name, fact in chosen)
