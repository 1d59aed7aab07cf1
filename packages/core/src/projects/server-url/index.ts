/**
 * The public base URL of a server: the template with `{name}` replaced by the label of its route.
 * `http://localhost:8080/{name}` → `http://localhost:8080/echo-one`. The MCP endpoint is this plus `/mcp`.
 */
export function serverUrl(template: string, label: string): string {
  return template.replace("{name}", label);
}

/** The MCP endpoint, which users paste into their client. */
export function mcpUrl(template: string, label: string): string {
  return `${serverUrl(template, label)}/mcp`;
}

/** The base URL of a server at a domain of its own, with the protocol and port of all servers. */
export function domainUrl(template: string, domain: string): string {
  const { protocol, port } = new URL(serverUrl(template, "name"));
  return `${protocol}//${domain}${port && `:${port}`}`;
}

const maxLabelLength = 63;

export type LabeledBranch = { readonly name: string; readonly isDefault: boolean };

/**
 * Host label of a branch's deployment: the project's name for the default branch, else project and branch name, as a
 * valid DNS label (RFC 1035, section 2.3.1: at most 63 letters, digits, hyphens). A branch name that must be changed
 * for that gets a short hash of the original, so that two branches never share a label.
 */
export function routeLabel(projectName: string, branch: LabeledBranch): string {
  const project = projectName.toLowerCase();
  if (branch.isDefault) return project;
  const plain = plainBranch(branch.name);
  const room = maxLabelLength - project.length - 1;
  if (plain === branch.name && plain.length <= room) return `${project}-${plain}`;
  return hashedRouteLabel(projectName, branch.name);
}

/** The label of a preview with a hash in any case, for when another project has the plain one. */
export function hashedRouteLabel(projectName: string, branchName: string): string {
  const project = projectName.toLowerCase();
  const room = maxLabelLength - project.length - 1;
  const hash = shortHash(branchName);
  const kept = plainBranch(branchName)
    .slice(0, room - hash.length - 1)
    .replace(/-$/, "");
  return kept === "" ? `${project}-${hash}` : `${project}-${kept}-${hash}`;
}

function plainBranch(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** FNV-1a, 32 bits, base 36. Not for security: it only makes labels unique. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash.toString(36).padStart(7, "0").slice(-6);
}

/**
 * The label in a server's MCP endpoint, the reverse of `mcpUrl`; null for any other URL. Case of the host and a slash
 * at the end don't matter.
 */
export function labelOfMcpUrl(template: string, url: string): string | null {
  const given = plainUrl(url);
  if (given === null) return null;
  const [start = "", end = ""] = mcpUrl(template, "{name}").split("{name}");
  const label = given.slice(start.length, given.length - end.length).toLowerCase();
  const isLabel = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(label);
  return isLabel && given.toLowerCase() === mcpUrl(template, label).toLowerCase() ? label : null;
}

/** The domain in a server's MCP endpoint at a domain of its own; null for any other URL. */
export function domainOfMcpUrl(template: string, url: string): string | null {
  const given = plainUrl(url);
  if (given === null) return null;
  const { hostname } = new URL(given);
  return given === `${domainUrl(template, hostname)}/mcp` ? hostname : null;
}

/** A URL without a slash at its end; null for one with a query, a fragment or credentials. */
function plainUrl(url: string): string | null {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || parsed.search || parsed.hash || url.includes("#") || parsed.username || parsed.password) return null;
  return parsed.href.replace(/\/$/, "");
}
