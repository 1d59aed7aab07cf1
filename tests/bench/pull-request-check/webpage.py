"""Fetches web pages as Markdown, with their headers, links and tables."""

import random
import time
from datetime import datetime, timezone
from email.utils import formatdate
from typing import Annotated
from urllib.parse import urljoin, urlsplit
from uuid import uuid4

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel, Field

mcp = FastMCP("webpage")
SEED = random.Random(5)
WORDS = [
    "deploy", "token", "region", "cluster", "build", "cache", "page",
    "server", "route", "worker", "limit", "queue", "secret", "volume", "image",
]  # fmt: skip
PLANS = [("Free", 0, 1), ("Office", 12, 10), ("Business", 49, 200)]
HOST = "https://docs.example.com"
PARTS = {"/guide": ["Install", "Configure", "Deploy", "Roll back", "Clean up"], "/pricing": ["Plans"]}
PARTS |= {"/faq": ["Is it free?", "Where are the data?"], "/status": ["Incidents"]}


def paragraph() -> str:
    return ". ".join(" ".join(SEED.choices(WORDS, k=8)).capitalize() for _ in range(6)) + "."


PAGES = {
    path: f"# {path[1:].title()}\n\n" + "\n\n".join(f"## {part}\n\n{paragraph()}" for part in parts)
    for path, parts in PARTS.items()
}
ROWS = [f"\n| {plan} | ${price} | {seats} |" for plan, price, seats in PLANS]
PAGES["/pricing"] += "\n\n| plan | price | seats |\n|---|---|---|" + "".join(ROWS)
LINKS = {"/guide": ["faq", "pricing", "https://github.com/example"], "/faq": ["guide#install", "pricing"]}


class Head(BaseModel):
    status: int
    content_length: int
    last_modified: str
    date: str
    etag: str
    request_id: str
    rate_limit_remaining: int


def load(url: str) -> str:
    if urlsplit(url).scheme not in ("http", "https"):
        raise ToolError(f"Failed to fetch {url} - only http and https are supported")
    if not url.startswith(HOST) or urlsplit(url).path not in PAGES:
        raise ToolError(f"Failed to fetch {url} - status code 404 (request {uuid4()})")
    return urlsplit(url).path


@mcp.tool
def fetch(url: str, max_length: int = 1200, start_index: Annotated[int, Field(ge=0)] = 0) -> str:
    """Fetch a page and return its contents as Markdown."""
    text = PAGES[load(url)]
    if url.endswith("/status"):
        text = f"_Updated {random.randint(2, 59)} seconds ago, {random.randint(300, 420)} visitors online_\n\n{text}"
    shown = text[start_index : start_index + max_length]
    end = start_index + len(shown)
    rest = f"\n\n<truncated>Continue with a start_index of {end}.</truncated>" if end < len(text) else ""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return f"Contents of {url} (at {now}, in {random.uniform(20, 90):.0f} ms):\n\n{shown}{rest}"


@mcp.tool
def headers(url: str) -> Head:
    """Response headers of an address, such as length and date."""
    body = PAGES[load(url)]
    time.sleep(random.uniform(0.01, 0.05))
    changed = formatdate(1_793_000_000 + len(body), usegmt=True)
    return Head(status=200, content_length=len(body) * 3, last_modified=changed, date=formatdate(usegmt=True),
                etag=f'W/"{random.randbytes(5).hex()}"', request_id=str(uuid4()),
                rate_limit_remaining=random.randint(40, 100))  # fmt: skip


@mcp.tool
def links(url: str) -> list[str]:
    """Addresses that are linked, absolute."""
    return [urljoin(url, link) for link in LINKS.get(load(url), [])]


@mcp.tool
def table(url: str) -> str:
    """First table as CSV."""
    if load(url) != "/pricing":
        raise ToolError("No table was found")
    return "\n".join(["plan,price_usd,seats", *(f"{plan},{price},{seats}" for plan, price, seats in PLANS)])
