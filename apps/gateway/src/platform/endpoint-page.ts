import { accessOf, type ClientGuide, clientGuides } from "@towpath/mcp/connect";
import type { Call, RequestHead } from "../call/states.ts";
import type { PaceRefusals } from "../limits/pace-refusals.ts";
import { challengeFor, resourceOf } from "../oauth/resource.ts";
import type { ServerAddress } from "../route/server-address.ts";
import { type Html, html, sendPage } from "./html.ts";

/** Headers that only MCP clients send, and a client's credentials. */
const clientHeaders = ["authorization", "mcp-protocol-version", "mcp-session-id", "mcp-method", "last-event-id"];

/**
 * Whether a person opened the endpoint in a browser, which requests HTML. MCP clients request JSON and event streams; a
 * script's call names its page's origin.
 */
export function isForPeople({ method, headers }: RequestHead): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const accept = headers.accept ?? "";
  if (!accept.includes("text/html") || accept.includes("text/event-stream")) return false;
  return headers.origin === undefined && clientHeaders.every((name) => headers[name] === undefined);
}

type Parts = {
  readonly serverAddress: ServerAddress;
  /** Origin of the dashboard. */
  readonly dashboard: string;
  readonly paceRefusals: PaceRefusals;
};

/**
 * Shows a person what an endpoint is and how to connect a client (GW-16). Servers for members and unused names have the
 * same page, unless the registry shows the server to everybody anyway. It is not a call: it needs neither the database
 * nor the server, doesn't wake the server, and leaves no row.
 */
export async function showEndpoint(parts: Parts, { request, response, target, route, address }: Call): Promise<void> {
  // A page costs as much as a refusal, so a flood of them is slowed down like one.
  await parts.paceRefusals(address, 401);
  const { label } = target;
  const { serverAddress, dashboard } = parts;
  const resource = resourceOf(serverAddress, target);
  const authMode = route?.authMode ?? "towpath-cloud";
  const listing = route?.listing ?? null;
  const asksForSignIn = authMode === "towpath-cloud";
  const headers: Record<string, string> = { vary: "accept" };
  // As for every request without credentials.
  if (asksForSignIn) headers["www-authenticate"] = challengeFor(resource, null);
  if (listing === null) headers["x-robots-tag"] = "noindex";
  const name = listing?.name ?? label;
  const guides = clientGuides({ name: label, url: resource.url }, accessOf(authMode));
  const body = html`<p class="kind">MCP server</p>
<h1>${name}</h1>
${listing?.description ? html`<p>${listing.description}</p>` : null}
<p class="muted">${notes[authMode]}</p>
${copyable(resource.url)}
${linksFor({ dashboard, label, isListed: listing !== null, asksForSignIn })}
<h2>Connect</h2>
${buttonsFor(guides)}
<div class="clients">${guides.map(guideFor)}</div>`;
  const isHead = request.method === "HEAD";
  sendPage(response, { title: `${name} · MCP server`, body, status: asksForSignIn ? 401 : 200, headers, isHead });
}

const notes = {
  "towpath-public": "This is the address of an MCP server. Add it to an MCP client such as Claude, Cursor or VS Code.",
  "towpath-cloud":
    "This address is for MCP clients such as Claude, Cursor or VS Code. Add it to yours. If you have access, the client asks you to sign in.",
  passthrough:
    "This is the address of an MCP server. Add it to an MCP client such as Claude, Cursor or VS Code. The server may ask you to sign in.",
} as const;

type Links = { dashboard: string; label: string; isListed: boolean; asksForSignIn: boolean };

function linksFor({ dashboard, label, isListed, asksForSignIn }: Links): Html | null {
  if (!isListed && !asksForSignIn) return null;
  return html`<ul class="row">
${isListed ? html`<li><a class="button" href="${dashboard}/app/${label}">See its tools</a></li>` : null}
${asksForSignIn ? html`<li><a class="button" href="${dashboard}/login">Sign in to Towpath</a></li>` : null}
</ul>`;
}

function buttonsFor(guides: readonly ClientGuide[]): Html {
  // Links without a snippet lead to a site's settings: their guides explain what to do there.
  const buttons = guides.flatMap(({ link, snippet }) => (link && snippet ? [link] : []));
  return html`<ul class="row">${buttons.map(({ label, href }) => html`<li><a class="button primary" href="${href}">${label}</a></li>`)}</ul>`;
}

function guideFor({ label, link, steps, snippet, note }: ClientGuide): Html {
  return html`<details name="client"><summary>${label}</summary><div class="guide">
${link ? html`<p><a href="${link.href}">${link.label}</a></p>` : null}
${steps.length > 0 ? html`<ol>${steps.map((step) => html`<li>${inline(step)}</li>`)}</ol>` : null}
${snippet ? html`<p class="muted">${inline(snippet.place)}</p>${copyable(snippet.code)}` : null}
${note === null ? null : html`<p class="muted">${inline(note)}</p>`}
</div></details>`;
}

const copyable = (text: string): Html =>
  html`<div class="copy"><pre>${text}</pre><button type="button" hidden>Copy</button></div>`;

/** A text in which `backticks` mark code. */
const inline = (text: string): readonly Html[] =>
  text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
