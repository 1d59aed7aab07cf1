"""A chat at work: channels, their history, threads, profiles."""

import random
import time
from datetime import datetime, timedelta, timezone
from uuid import uuid4

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from pydantic import BaseModel

mcp = FastMCP("chat")
SEED = random.Random(31)
USERS = {"ana": ("Ana Costa", 0), "bo": ("Bo Lindqvist", 1), "kim": ("Kim Park", 9), "lee": ("Lee Moore", -5)}
CHANNELS = {"general": "Company news", "support": "Questions of customers", "launch-2023": "Done", "design": "Drafts"}
TEXTS = ["Has anyone seen the failing deploy of the billing service this morning?", "Thanks, merged.",
         "The customer in Oslo reports that exports over 10 MB stop halfway through.", "Standup at 10:15."]  # fmt: skip


class Message(BaseModel):
    id: str
    user: str
    text: str
    sent_at: str
    reactions: dict[str, int]


class Thread(BaseModel):
    parent: Message
    replies: list[Message]
    participants: list[str]
    request_id: str


def message(key: str, minutes: int) -> Message:
    draw = random.Random(key)
    sent = datetime.fromtimestamp(time.time() // 3600 * 3600, timezone.utc) - timedelta(minutes=minutes)
    reactions = {name: draw.randint(1, 6) for name in draw.sample(["thumbsup", "tada", "eyes"], draw.randint(1, 3))}
    user, text = draw.choice(list(USERS)), draw.choice(TEXTS)
    return Message(id=key, user=user, text=text, sent_at=sent.isoformat(), reactions=reactions)


LOG = {name: [(f"{name}.{at}", 7 + at * SEED.randint(11, 90)) for at in range(14)] for name in list(CHANNELS)[:3]}


def log_of(channel: str) -> list[tuple[str, int]]:
    if channel not in CHANNELS:
        raise ToolError(f"channel_not_found: {channel}")
    return sorted(LOG.get(channel, []), key=lambda row: row[1])


@mcp.tool
def list_channels(include_archived: bool = False) -> dict:
    """List the channels with their topics."""
    # Archived ones are hiden.
    time.sleep(random.uniform(0.005, 0.02))
    rows = [{"name": name, "topic": topic, "members": 4, "online": random.randint(1, 4)}
            for name, topic in CHANNELS.items() if include_archived or name != "launch-2023"]  # fmt: skip
    return {"channels": rows, "request_id": str(uuid4()), "rate_limit_left": random.randint(10, 50)}


@mcp.tool
def channel_history(channel: str, limit: int = 5) -> str:
    """Latest messages of a channel as Markdown, newest first."""
    lines = [f"# {channel} ({random.randint(1, 4)} online)"]
    for key, minutes in log_of(channel)[:limit]:
        post, ago = message(key, minutes), minutes + int(time.time() % 3600 // 60)
        lines.append(f"- **{post.user}**, {f'{ago} min' if ago < 60 else f'{ago // 60} h'} ago: {post.text}")
    return "\n".join(lines)


@mcp.tool
def thread(id: str) -> Thread:
    """Replies to one message, oldest first."""
    minutes = next((minutes for key, minutes in log_of(id.split(".")[0]) if key == id), None)
    if minutes is None:
        raise ToolError(f"thread_not_found: {id}")
    replies = [message(f"{id}.{at}", minutes - 1 - at) for at in range(4)]
    people = sorted({reply.user for reply in replies}, key=lambda _: random.random())
    return Thread(parent=message(id, minutes), replies=replies, participants=people, request_id=str(uuid4()))


@mcp.tool
def profile(user: str) -> dict:
    """Profile of a user: name, presence, local time."""
    if user not in USERS:
        raise ToolError(f"user_not_found: {user}")
    name, hours = USERS[user]
    local = datetime.now(timezone(timedelta(hours=hours))).isoformat(timespec="seconds")
    return {"name": name, "presence": random.choice(["active", "idle"]), "local_time": local, "status": None}
