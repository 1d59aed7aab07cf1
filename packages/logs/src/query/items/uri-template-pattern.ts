/** Expansions of an expression of RFC 6570 as a regular expression, by operator. */
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
 * A regular expression of PostgreSQL for the expansions of a URI template (RFC 6570). Not for JavaScript's engine, in
 * which some templates of tenants would take exponential time. As in FastMCP, `{path*}` matches slashes.
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
