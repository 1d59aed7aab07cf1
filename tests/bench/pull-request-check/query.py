"""SQL over a small database of sales: statements, tables, best customers."""

import sqlite3
import threading
import time

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("query")
database = sqlite3.connect(":memory:", check_same_thread=False)
lock = threading.Lock()
database.executescript("""
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT, credit REAL);
    CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INTEGER, month TEXT, amount REAL, paid INTEGER);
    CREATE INDEX sale_month ON sale (month);
""")
database.executemany(
    "INSERT INTO customer VALUES (?, ?, ?, ?)",
    [(n, f"Firm {n}", ["NO", "IT", None, "PE"][n % 4], round(500 + n * 61.5, 2)) for n in range(1, 25)],
)
database.executemany(
    "INSERT INTO sale VALUES (?, ?, ?, ?, ?)",
    [(n, n % 24 + 1, f"2026-{n % 6 + 1:02d}", round(20 + n * 3.45 % 170, 2), n % 3 != 0) for n in range(1, 301)],
)


def rows_of(statement: str, *values) -> tuple[list[str], list[list]]:
    try:
        with lock:
            cursor = database.execute(statement, values)
            return [column[0] for column in cursor.description], [list(row) for row in cursor]
    except sqlite3.Error as error:
        raise ToolError(f"{type(error).__name__}: {error}") from error


@mcp.tool
def run_sql(statement: str, limit: int = 10) -> dict:
    """Run a SQL statement that selects rows."""
    if not statement.lower().lstrip().startswith("select"):
        raise ToolError("Only SELECT is allowed.")
    begun = time.perf_counter()
    columns, rows = rows_of(statement)
    return {
        "columns": columns,
        "rows": rows[:limit],
        "row_count": len(rows),
        "truncated": len(rows) > limit,
        "elapsed_ms": round((time.perf_counter() - begun) * 1000, 3),
    }


@mcp.tool
def describe_table(table: str) -> str:
    """Describe the columns of a table as Markdown."""
    _, rows = rows_of("SELECT name, type, \"notnull\" FROM pragma_table_info(?)", table)
    if not rows:
        raise ToolError(f"no such table: {table}")
    lines = [f"| {name} | {kind} | {'required' if required else 'optional'} |" for name, kind, required in rows]
    return "\n".join(["| column | type | |", "|---|---|---|", *lines])


@mcp.tool
def best_customers(month: str, count: int = 3) -> list[dict]:
    """The best customers of a month by what they bought."""
    columns, rows = rows_of(
        "SELECT c.name, c.country, round(sum(s.amount), 2) AS total, count(*) AS sales FROM sale s"
        " JOIN customer c ON c.id = s.customer WHERE s.month = ? GROUP BY c.id ORDER BY total DESC, c.id LIMIT ?",
        month,
        count,
    )
    return [dict(zip(columns, row, strict=True)) for row in rows]
