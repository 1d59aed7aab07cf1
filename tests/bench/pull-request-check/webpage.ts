import type { BenchServer } from "./bench-server.ts";

const site = "https://docs.example.com";

export const webpage: BenchServer = {
  name: "webpage",
  calls: [
    ...["guide", "faq", "pricing", "status", "missing"].map((page) => ["fetch", { url: `${site}/${page}` }] as const),
    ["fetch", { url: `${site}/guide`, start_index: 1200 }],
    ["fetch", { url: `${site}/guide`, start_index: 500, max_length: 200 }],
    ["fetch", { url: "ftp://docs.example.com/guide" }],
    ...["guide", "faq", "pricing"].map((page) => ["headers", { url: `${site}/${page}` }] as const),
    ...["guide", "faq", "status"].map((page) => ["links", { url: `${site}/${page}` }] as const),
    ["table", { url: `${site}/pricing` }],
    ["table", { url: `${site}/faq` }],
  ],
  questions: [
    "Fetch the contents of the page guide as Markdown.",
    "Which response headers has this address?",
    "Which addresses are linked from the pricing?",
    "Give me the first table as CSV.",
  ],
  faults: [
    {
      what: "pages cut after 300 characters by default",
      change: [["max_length: int = 1200", "max_length: int = 300"]],
    },
    {
      what: "continued pages lose a character",
      change: [
        [
          "text[start_index : start_index + max_length]",
          "text[start_index + (start_index > 0) : start_index + max_length]",
        ],
      ],
    },
    { what: "links relative", change: [["[urljoin(url, link) for link in ", "[link for link in "]] },
    {
      what: "missing page as an empty one",
      change: [
        [
          '        raise ToolError(f"Failed to fetch {url} - status code 404 (request {uuid4()})")\n',
          '        return ""\n',
        ],
        ["    text = PAGES[load(url)]\n", '    text = PAGES.get(load(url), "")\n'],
      ],
    },
    {
      what: "waits for a browser to draw the page",
      change: [["    text = PAGES[load(url)]\n", "    text = PAGES[load(url)]\n    time.sleep(3)\n"]],
    },
    {
      what: "prices in cents, still called price_usd",
      change: [['f"{plan},{price},{seats}"', 'f"{plan},{price * 100},{seats}"']],
    },
  ],
  harmless: [
    { what: "comment", change: [["def load(", "# Only the documentation is reachable.\ndef load("]] },
    {
      what: "address parsed once",
      change: [
        ["    if urlsplit(url).scheme not in", "    parts = urlsplit(url)\n    if parts.scheme not in"],
        ["or urlsplit(url).path not in PAGES", "or parts.path not in PAGES"],
        ["    return urlsplit(url).path\n", "    return parts.path\n"],
      ],
    },
    {
      what: "new optional argument",
      change: [
        [
          "Annotated[int, Field(ge=0)] = 0) -> str:",
          "Annotated[int, Field(ge=0)] = 0, user_agent: str | None = None) -> str:",
        ],
      ],
    },
    {
      what: "new field",
      change: [
        ["    status: int\n", "    status: int\n    content_language: str | None = None\n"],
        ["return Head(status=200, ", 'return Head(status=200, content_language="en", '],
      ],
    },
    {
      what: "new tool",
      change: [
        [
          "@mcp.tool\ndef table",
          '@mcp.tool\ndef outline(url: str) -> list[str]:\n    """Headings."""\n    return [line[3:] for line in PAGES[load(url)].splitlines() if line.startswith("## ")]\n\n\n@mcp.tool\ndef table',
        ],
      ],
    },
    { what: "faster", change: [["    time.sleep(random.uniform(0.01, 0.05))\n", ""]] },
    {
      what: "logging",
      change: [
        ["    return [urljoin(", '    LOG.info("links of %s", url)\n    return [urljoin('],
        ['mcp = FastMCP("webpage")\n', 'mcp = FastMCP("webpage")\nLOG = logging.getLogger("webpage")\n'],
        ["import random\n", "import logging\nimport random\n"],
      ],
    },
    { what: "tags by another generator", change: [["random.randbytes(5).hex()", "uuid4().hex[:10]"]] },
    {
      what: "table by the csv module",
      change: [
        [
          '    return "\\n".join(["plan,price_usd,seats", *(f"{plan},{price},{seats}" for plan, price, seats in PLANS)])\n',
          '    out = io.StringIO()\n    csv.writer(out, lineterminator="\\n").writerows([("plan", "price_usd", "seats"), *PLANS])\n    return out.getvalue().rstrip("\\n")\n',
        ],
        ["import random\n", "import csv\nimport io\nimport random\n"],
      ],
    },
    {
      what: "description in other words",
      change: [["Fetch a page and return its contents as Markdown.", "Fetch the contents of a page, as Markdown."]],
    },
  ],
};
