import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject } from "vitest";

/** Makes a portal of one deployed server over REST; resolves to its MCP endpoint. */
export async function makePortal(input: {
  readonly name: string;
  readonly server: string;
  readonly authMode: "towpath-cloud" | "towpath-public";
}): Promise<URL> {
  const { name, server, authMode } = input;
  const token = (await readFile(join(inject("dataDirectory"), "operator-token"), "utf8")).trim();
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${inject("url")}/api/v1/${path}`, { ...init, headers });
    expect(answer.status).toBe(200);
    return answer.json();
  };
  const { orgSlug } = (await ask(`projects/${server}`)) as { orgSlug: string };
  const body = JSON.stringify({ name, authMode, servers: [{ server }] });
  await ask(`organizations/${orgSlug}/portals`, { method: "POST", body });
  return new URL(`${inject("serversUrl")}/${name}/mcp`);
}
