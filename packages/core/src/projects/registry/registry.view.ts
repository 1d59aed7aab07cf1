import type { Manifest } from "@towpath/mcp/manifest";
import type { AuthMode } from "../project/project.schema.ts";

/** Registry data of a public project (PUB-16), and what its page shows of the server. */
export type RegistryEntry = {
  /** As its owner wrote it; the label of its address in lower case. */
  readonly projectName: string;
  /** The server's own title, else the project's name. */
  readonly title: string;
  readonly description: string;
  readonly meta: {
    /** CSS color `#rrggbb`, always the same for a name. */
    readonly themeColor: string;
    readonly canonicalUrl: string;
    /** The server's own icon on this site, else a `data:` URL of an SVG image. */
    readonly favicon: string;
  };
  /** MCP endpoint. */
  readonly url: string;
  readonly authMode: AuthMode;
  /** owner/name; null where strangers can't see the repository. */
  readonly repository: string | null;
  /** What the server that is live offers; null when nothing is live, or it doesn't tell strangers. */
  readonly manifest: Manifest | null;
  /** ISO 8601; null when nothing is live. */
  readonly liveAt: string | null;
};

/** A version of a server in the MCP Registry API (PUB-14). */
export type RegistryVersion = {
  readonly projectName: string;
  readonly title: string;
  readonly description: string;
  readonly url: string;
  readonly authMode: AuthMode;
  readonly repository: { readonly fullName: string; readonly id: number } | null;
  /** Order of the version's build on the default branch: 1, 2, 3, … */
  readonly sequence: number;
  /** Whether it is what the server's address serves now. */
  readonly isLatest: boolean;
  readonly publishedAt: string;
  readonly updatedAt: string;
};

/** A hue for each name, dark enough for white text on it (WCAG 2.2, 1.4.3). */
export function themeColor(name: string): string {
  let hash = 0x811c9dc5;
  for (const character of name.toLowerCase()) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return colors[(hash >>> 0) % colors.length] ?? "#0b6a70";
}

const colors = [
  "#0b6a70",
  "#1f5f8b",
  "#4a5aa8",
  "#6b4c9a",
  "#8a4277",
  "#9a3f4a",
  "#8f4a1e",
  "#6f5a10",
  "#3f6b25",
  "#1d6b4a",
];

/** A tile with the first letter of the name. */
export function favicon(name: string): string {
  const letter = (/[a-z0-9]/i.exec(name)?.[0] ?? "m").toUpperCase();
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="${themeColor(name)}"/>` +
    `<text x="12" y="17" text-anchor="middle" font-family="sans-serif" font-weight="600" font-size="14" fill="#fff">${letter}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** What a server says of itself in one paragraph, where its owner says nothing. */
export function describe(description: string | null, manifest: Manifest | null): string {
  const own = description ?? manifest?.instructions?.trim().split(/\n\s*\n/, 1)[0] ?? "";
  if (own !== "") return own;
  const count = manifest?.tools.length ?? 0;
  return count === 0 ? "An MCP server." : `An MCP server with ${count} ${count === 1 ? "tool" : "tools"}.`;
}
