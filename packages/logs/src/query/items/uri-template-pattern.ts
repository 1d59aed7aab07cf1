/** What an expression of RFC 6570 can expand to, as a regular expression, by its operator. */
const expansions: Readonly<Record<string, string>> = {
  "": "[^/?#]+",
  "+": ".+",
  "#": "(#.*)?",
  ".": "\\.[^/?#]+",
  "/": "/[^/?#]+",
  ";": "(;[^/?#]*)?",
  "?": "(\\?[^#]*)?",
  "&": "(&[^#]*)?",
};

/**
 * A regular expression of PostgreSQL for the URIs that a URI template (RFC 6570) can expand to. Not for JavaScript's
 * engine: templates are a tenant's, and with it some take exponential time. As in FastMCP, `{path*}` takes slashes.
 */
export function uriTemplatePattern(template: string): string {
  const parts = template.split(/(\{[^{}]*\})/);
  const pattern = parts.map((part, at) => {
    if (at % 2 === 0) return part.replace(/[^\p{L}\p{N}\s]/gu, "\\$&");
    const [, operator = "", names = ""] = /^\{([+#./;?&]?)(.*)\}$/s.exec(part) ?? [];
    if (operator === "/" && names.endsWith("*")) return "/.+";
    return operator === "" && names.endsWith("*") ? ".+" : (expansions[operator] ?? "");
  });
  return `^${pattern.join("")}$`;
}
