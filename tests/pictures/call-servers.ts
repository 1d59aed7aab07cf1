import { createHash } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Page } from "playwright-core";
import { allowInBrowser } from "../e2e/authorize.ts";
import type { TowpathInstance } from "../instance/towpath-process.ts";
import { clients } from "./write-week.ts";

const urlOf = (instance: TowpathInstance, name: string) => `${instance.serversUrl}/${name}/mcp`;

/** Real calls, so that the newest rows of the log can be opened with all that belongs to them. */
export async function callServer(instance: TowpathInstance, server: string, token: string): Promise<void> {
  for (const [name, version] of clients.slice(0, 3)) {
    const client = new Client({ name, version }, { versionNegotiation: { mode: "auto" } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(urlOf(instance, server)), { requestInit }));
    const call = (tool: string, args: Record<string, unknown>) => client.callTool({ name: tool, arguments: args });
    for (const gauge of ["Leiden", "Gouda", "Haarlem"]) await call("water_level", { gauge });
    await call("lock_status", { lock: "Spaarne" });
    await call("find_moorings", { near: "Leiden", length: 14 });
    await call("water_level", { gauge: "Katwijk", hours: 12 });
    await client.close();
  }
}

const verifier = "pictures-".padEnd(64, "x");
const redirectUri = "http://127.0.0.1:41999/callback";

/** Registers a client. Returns its id, and the address that it opens in a browser to call the server. */
export async function connectClient(instance: TowpathInstance, server: string, name: string) {
  const metadata = { client_name: name, redirect_uris: [redirectUri], token_endpoint_auth_method: "none" };
  const body = JSON.stringify(metadata);
  const headers = {
    "user-agent": `${name.toLowerCase().replaceAll(" ", "-")}/2.4.1`,
    "content-type": "application/json",
  };
  await discover(instance, server, headers["user-agent"]);
  const registered = await fetch(`${instance.url}/oauth/register`, { method: "POST", body, headers });
  const { client_id: clientId } = (await registered.json()) as { readonly client_id: string };
  const parameters = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    state: name,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: urlOf(instance, server),
  });
  return { clientId, headers, url: `${instance.url}/oauth/authorize?${parameters}` };
}

/** What a client asks before it registers: the server, which refuses it, and the documents that lead on. */
async function discover(instance: TowpathInstance, server: string, agent: string): Promise<void> {
  const headers = { "user-agent": agent };
  const refused = await fetch(urlOf(instance, server), { method: "POST", body: "{}", headers });
  const metadata = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "")?.[1];
  if (metadata) await fetch(metadata, { headers });
  await fetch(`${instance.url}/.well-known/oauth-authorization-server`, { headers });
}

/** One client signs in and calls the server; another one shows a wrong secret for its code, and fails. */
export async function signInClients(instance: TowpathInstance, server: string, page: Page): Promise<void> {
  await page.route(`${redirectUri}?*`, (route) => route.fulfill({ body: "Signed in" }));
  for (const [name, code_verifier] of [
    ["Claude Code", verifier],
    ["Cursor", "wrong".padEnd(64, "x")],
  ] as const) {
    const { clientId, headers, url } = await connectClient(instance, server, name);
    const answer = await allowInBrowser(page, url, { email: "" });
    const fields = { grant_type: "authorization_code", client_id: clientId, redirect_uri: redirectUri, code_verifier };
    const response = await fetch(`${instance.url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({ ...fields, code: answer.get("code") ?? "" }),
      headers: { "user-agent": headers["user-agent"] },
    });
    const { access_token: token } = (await response.json()) as { readonly access_token?: string };
    if (token) await callServer(instance, server, token);
  }
}
