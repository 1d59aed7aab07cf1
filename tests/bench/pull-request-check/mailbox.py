"""A mailbox: folders in pages with opaque cursors, messages, search."""

import base64
import random
import secrets
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("mailbox")
PEOPLE = ["ines@example.com", "tomas@example.org", "yuki@example.net"]
FOLDERS = {"inbox": 23, "sent": 9, "archive": 31}
NEWEST = datetime(2026, 11, 2, 7, 41, 9, tzinfo=timezone.utc)
MAIL = [
    {
        "id": f"{folder}-{at}",
        "folder": folder,
        "from": PEOPLE[at % 3],
        "subject": f"Re: plan {at}" if at % 4 == 0 else f"Offer {at}",
        "received": NEWEST - timedelta(hours=at * 5, minutes=at * 7 % 30),
        "unread": folder == "inbox" and at % 3 == 0,
        "size_kb": round(3.2 + at * 1.7, 1),
        "attachments": [f"page-{n}.pdf" for n in range(at % 3)],
    }
    for folder, count in FOLDERS.items()
    for at in range(count)
]


def ago(moment: datetime) -> str:
    hours = int((datetime.now(timezone.utc) - moment).total_seconds() // 3600)
    return f"{hours} hours ago" if hours < 48 else f"{hours // 24} days ago"


def shown(message: dict) -> dict:
    return {**message, "received": message["received"].isoformat(timespec="seconds"), "age": ago(message["received"])}


@mcp.tool
def list_messages(folder: str, cursor: str | None = None, size: int = 5) -> dict:
    """List the messages of a folder, newest first, in pages."""
    own = [m for m in MAIL if m["folder"] == folder]
    if not own:
        raise ToolError(f"No folder named {folder}. There are: {', '.join(FOLDERS)}.")
    first = int(base64.urlsafe_b64decode(cursor).split(b":")[0]) if cursor else 0
    following = base64.urlsafe_b64encode(f"{first + size}:{secrets.token_hex(8)}".encode()).decode()
    return {
        "messages": [shown(m) for m in own[first : first + size]],
        "next_cursor": following if first + size < len(own) else None,
        "total": len(own),
        "unread": sum(m["unread"] for m in own),
    }


@mcp.tool
def read_message(id: str) -> str:
    """Read one message with its headers, as it was sent."""
    time.sleep(random.uniform(0.002, 0.01))
    for m in MAIL:
        if m["id"] == id:
            boundary = secrets.token_hex(10)
            files = (f"Content-Disposition: attachment; filename={name}" for name in m["attachments"])
            parts = "".join(f"--{boundary}\n{each}\n\n" for each in files)
            return (
                f"Date: {format_datetime(m['received'])}\nFrom: {m['from']}\nSubject: {m['subject']}\n"
                f"Message-ID: <{secrets.token_hex(8)}@mail.example>\n"
                f"Content-Type: multipart/mixed; boundary={boundary}\n\n"
                f"Hello,\n\nthis is message {m['id']}.\n{parts}--{boundary}--\n"
            )
    raise ToolError(f"Message {id} does not exist or was deleted.")


@mcp.tool
def search_mail(sender: str, unread_only: bool = False) -> list[dict]:
    """Search mail by its sender in all folders."""
    found = [m for m in MAIL if sender in m["from"] and (m["unread"] or not unread_only)]
    return [{**shown(m), "score": round(1 / (1 + at) + random.uniform(0, 0.001), 4)} for at, m in enumerate(found[:8])]
