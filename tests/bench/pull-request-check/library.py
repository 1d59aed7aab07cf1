"""A library: books, recommendations that change, loans."""

import random
import time
import uuid
from datetime import date, timedelta

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("library")
GENRES = ["history", "travel", "cooking", "physics"]
BOOKS = {
    f"978-{at:06d}": {
        "isbn": f"978-{at:06d}",
        "title": f"The {GENRES[at % 4]} of things, volume {at}",
        "genre": GENRES[at % 4],
        "pages": 120 + at * 7,
        "rating": round(2.5 + at % 25 / 10, 1),
        "published": (date(1990, 1, 1) + timedelta(days=at * 97)).isoformat(),
        "copies": at % 5,
    }
    for at in range(40)
}
LOANS = dict.fromkeys(BOOKS, 0)


@mcp.tool
def book(isbn: str) -> str:
    """Show a book by its ISBN, as a text."""
    if isbn not in BOOKS:
        raise ToolError(f"ISBN {isbn} is not in the catalog.")
    b = BOOKS[isbn]
    LOANS[isbn] += 1
    seen = random.uniform(0.5, 9)
    return (
        f"# {b['title']}\n\n- Pages: {b['pages']}\n- Rating: {b['rating']} of 5\n- Copies: {b['copies']}\n"
        f"- Shown {LOANS[isbn]} times, last {seen:.1f} ms ago\n"
    )


@mcp.tool
def recommend(genre: str, count: int = 3) -> list[dict]:
    """Recommend some books of a genre."""
    if genre not in GENRES:
        raise ToolError(f"Genre must be one of {GENRES}")
    chosen = random.sample([b for b in BOOKS.values() if b["genre"] == genre], count)
    return [{**b, "match": round(random.uniform(0.6, 0.99), 2), "reason": f"Readers of {genre} like it"} for b in chosen]


@mcp.tool
def catalog(genre: str | None = None, after: str = "", size: int = 6) -> dict:
    """Browse the catalog in the order of ISBNs."""
    time.sleep(random.uniform(0.001, 0.02))
    rest = [b for b in BOOKS.values() if b["isbn"] > after and genre in (None, b["genre"])]
    shown = rest[:size]
    mean = sum(b["rating"] for b in shown) / max(1, len(shown))
    return {
        "books": shown,
        "next": shown[-1]["isbn"] if len(rest) > size else None,
        "mean_rating": round(mean, 2),
        "query": str(uuid.uuid4()),
        "load": [round(random.uniform(0, 2), 2) for _ in range(3)],
    }
