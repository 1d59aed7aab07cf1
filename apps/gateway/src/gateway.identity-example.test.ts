import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addMember, connectModern, storeApiKey } from "./testing/clients.ts";
import { createRig, type DeployedServer, type Rig, until } from "./testing/rig.ts";

const page = new URL("../../../docs/identity.md", import.meta.url);

let rig: Rig;
/** Publishes the keys as web does. */
let dashboard: Server;
let directory: string;
let child: ChildProcess;
let server: DeployedServer;

beforeAll(async () => {
  dashboard = createServer((_request, response) => {
    void rig.signingKeys.published().then((keys) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify(keys));
    });
  });
  await new Promise<void>((resolve) => dashboard.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(dashboard.address() as AddressInfo).port}`;
  rig = await createRig({ TOWPATH_URL: issuer });
  directory = await mkdtemp(join(tmpdir(), "tp-id-"));
  const example = /```python\n(.*?)```/s.exec(await readFile(page, "utf8"))?.[1] ?? "";
  await writeFile(join(directory, "example.py"), example);
  server = await rig.deploy((_request, response) => response.destroy(), {
    authMode: "towpath-cloud",
    identityAssertion: true,
  });
  const path = join(directory, "mcp.sock");
  const packages = ["--with", "fastmcp==4.1.2", "--with", "pyjwt[crypto]", "--with", "uvicorn"];
  const code = "import sys, uvicorn; from example import mcp; uvicorn.run(mcp.http_app(path='/mcp'), uds=sys.argv[1])";
  child = spawn("uv", ["run", "--no-project", ...packages, "python", "-c", code, path], {
    cwd: directory,
    stdio: "ignore",
    env: {
      ...process.env,
      FASTMCP_HTTP_HOST_ORIGIN_PROTECTION: "false",
      ISSUER: issuer,
      TOWPATH_CLOUD_URL: `http://localhost:8080/${server.label}`,
    },
    detached: true,
  });
  await until(() => existsSync(path), 150_000);
  rig.runner.servers.set(server.deploymentId, { instanceId: crypto.randomUUID(), endpoint: { kind: "unix", path } });
}, 180_000);
afterAll(async () => {
  // uv's child is the server: both are in one process group.
  if (child?.pid) process.kill(-child.pid, "SIGKILL");
  dashboard.close().closeAllConnections();
  await rig.close();
  await rm(directory, { recursive: true, force: true });
});

/** A client of a person with that role, who also tries to pass as an admin. */
async function clientOf(role: string, email: string) {
  const userId = await addMember(rig, server.organizationId, { role, email });
  const key = await storeApiKey(rig, server.organizationId, { userId });
  const forged = { "Towpath-Actor-Role": "owner", Towpath_Actor: "user:forged", "towpath-assertion": "forged" };
  return { userId, client: await connectModern(server.url, { ...key.bearer, ...forged }) };
}

test("GW-11 the documented FastMCP server identifies its caller and verifies the assertion by the published keys", {
  timeout: 120_000,
}, async () => {
  const admin = await clientOf("admin", "zoë@bücher.example");
  const person = await clientOf("member", "max@example.com");
  const call = ({ client }: typeof admin, name: string) => client.callTool({ name, arguments: {} });
  expect((await call(admin, "whoami")).structuredContent).toEqual({
    "towpath-actor": `user:${admin.userId}`,
    "towpath-actor-role": "admin",
    "towpath-actor-email": "zoë@bücher.example",
  });
  const deleted = await call(admin, "delete_everything");
  expect(deleted.content).toEqual([expect.objectContaining({ text: "Deleted for zoë@bücher.example" })]);
  const refused = await call(person, "delete_everything");
  expect([refused.isError, JSON.stringify(refused.content)]).toEqual([
    true,
    expect.stringContaining("Only admins may do this."),
  ]);

  // Without an assertion it must not fall back to the headers.
  await rig.database.pool.query("UPDATE project SET identity_assertion = false WHERE id = $1", [server.projectId]);
  await expect
    .poll(async () => JSON.stringify((await call(admin, "delete_everything")).content), { timeout: 20_000 })
    .toContain("The caller is unknown");
  await admin.client.close();
  await person.client.close();
});
