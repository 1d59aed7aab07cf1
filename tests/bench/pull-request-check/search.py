"""A search in documents: scores that move a little, results in pages, suggestions."""

import random
import time
import uuid

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("search")
SUBJECTS = ["solar", "wind", "water", "coal", "gas"]
DOCUMENTS = [
    {
        "doc": f"doc-{at:03d}",
        "title": f"{SUBJECTS[at % 5].title()} report {at}",
        "length_m": 100 + at * 13,
        "weight": 1 + at % 7,
        "url": f"https://docs.example/{SUBJECTS[at % 5]}/{at}",
    }
    for at in range(80)
]


def score(document: dict, text: str) -> float:
    return len(text) / 10 + document["weight"] * 1.5


@mcp.tool
def search(text: str, page: int = 1) -> str:
    """Search documents by text and return a page of hits with scores."""
    hits = [d for d in DOCUMENTS if text.lower() in d["title"].lower()]
    hits.sort(key=lambda d: (-score(d, text), d["doc"]))
    lines = [f"{len(hits)} hits for '{text}' (query {uuid.uuid4()}, {random.uniform(1, 9):.2f} ms)"]
    for at, d in enumerate(hits[(page - 1) * 5 : page * 5], start=(page - 1) * 5 + 1):
        lines.append(f"{at}. {d['title']} - {score(d, text) + random.uniform(-0.05, 0.05):.3f} - {d['url']}")
    return "\n".join(lines)


@mcp.tool
def document(doc: str) -> dict:
    """Read the details of a document."""
    time.sleep(random.uniform(0.005, 0.03))
    for each in DOCUMENTS:
        if each["doc"] == doc:
            views = each["weight"] * 1000 + random.randint(0, 40)
            return {**each, "views": views, "session": uuid.uuid4().hex, "tags": sorted({doc[-1], "energy"})}
    raise ToolError(f"No document {doc} (checked at {time.strftime('%H:%M:%S')}).")


@mcp.tool
def suggest(prefix: str, limit: int = 3) -> list[str]:
    """Suggest titles that begin with a prefix."""
    return [d["title"] for d in DOCUMENTS if d["title"].lower().startswith(prefix.lower())][:limit]
