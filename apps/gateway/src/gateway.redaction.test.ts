import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { openClock } from "../../../tests/clock.ts";
import { isThorough } from "../../../tests/thorough.ts";
import { withheld } from "./record/redact.ts";
import { connectLegacy, connectModern, postTo } from "./testing/clients.ts";
import { createMcpListener } from "./testing/mcp-server.ts";
import { addPortal, storeManifest } from "./testing/portal.ts";
import { type DeployedServer, openRig, until } from "./testing/rig.ts";
import { setVariables } from "./testing/variables.ts";

const token = 'sk-live/ä+"42"&~\\né 9f8e7d6c5b4a';
const bytes = Buffer.from(token);
/** Each of them must be gone from a row. */
const forms = {
  text: token,
  json: JSON.stringify(token).slice(1, -1),
  base64: bytes.toString("base64").replace(/=+$/, ""),
  base64url: bytes.toString("base64url"),
  hex: bytes.toString("hex"),
  upper: bytes.toString("hex").toUpperCase(),
  percent: encodeURIComponent(token),
  form: new URLSearchParams({ token }).toString().slice("token=".length),
};

const clock = openClock();
const rig = openRig();

/** What the database has of a project's calls. */
async function stored(server: DeployedServer, count: number): Promise<string> {
  await rig.rows(server.projectId, count);
  const { rows } = await rig.database.pool.query("SELECT * FROM request_log WHERE project_id = $1", [server.projectId]);
  return JSON.stringify(rows);
}

function expectNoForm(text: string): void {
  for (const [form, value] of Object.entries(forms)) {
    expect(text, form).not.toContain(value);
    // As a string in the JSON that was searched.
    expect(text, form).not.toContain(JSON.stringify(value).slice(1, -1));
  }
}

const audited = async ({ deploymentId }: DeployedServer) => {
  const entries = "SELECT * FROM audit_log WHERE action = 'secret.decrypt' AND subject = $1 AND actor = 'job:gateway'";
  return (await rig.database.pool.query(entries, [deploymentId])).rows;
};

/** A server that answers with an event stream, in pieces of so many bytes. */
const inPieces =
  (message: object, size: number): RequestListener =>
  async (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = Buffer.from(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    for (let at = 0; at < event.length; at += size) {
      response.write(event.subarray(at, at + size));
      await turn();
    }
    response.end();
  };

const result = (value: unknown) => ({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: value }] } });

test.each([1, 7, 64])(
  "KEY-4 no form of a value is kept of an event stream that comes in pieces of %i bytes",
  async (size) => {
    const message = { ...result(JSON.stringify(forms)), [forms.hex]: Object.values(forms) };
    const server = await rig.deploy(inPieces(message, size), { capturePayloads: true });
    await setVariables(rig.database, server, { TOKEN: token, SHORT: "on" });
    // The client may repeat what the server sent.
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "t", arguments: { ...forms, on: "on" } },
    };
    const answer = await postTo(server.url, JSON.stringify(call));
    // What passes is not changed.
    expect(await answer.text()).toContain(JSON.stringify(message));
    const [row] = await rig.rows(server.projectId, 1);
    expect(row?.requestPayload).toMatchObject({ params: { arguments: { text: "[TOKEN]", on: "on" } } });
    expect(row?.responsePayload).toMatchObject({ "[TOKEN]": expect.arrayContaining(["[TOKEN]"]) });
    expectNoForm(await stored(server, 1));
  },
);

test("KEY-4 messages of errors and addresses of resources are redacted without capture too", async () => {
  const errors = Object.values(forms).join(" ");
  const server = await rig.deploy((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message: `refused: ${errors}` } }));
  });
  await setVariables(rig.database, server, { TOKEN: token });
  const params = { uri: `https://x.test/?key=${forms.percent}` };
  await postTo(server.url, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params }));
  const [row] = await rig.rows(server.projectId, 1);
  expect(row?.errorMessage).toMatch(/^refused: \[TOKEN\]/);
  expect(row).toMatchObject({ target: "https://x.test/?key=[TOKEN]", requestPayload: null });
  expectNoForm(await stored(server, 1));
});

test("KEY-4 a value in the name of a tool or prompt is kept neither in its row nor in a refusal that quotes it, in any case", async () => {
  const secret = `${token}-Name`;
  const server = await rig.deploy(inPieces({ jsonrpc: "2.0", id: 1, result: { content: [] } }, 64));
  const limited = await rig.deploy(inPieces(result("x"), 64), { access: { tools: [] } });
  const open = [
    { method: "tools/call", params: { name: `use_${secret}` } },
    { method: "tools/call", params: { name: secret.toUpperCase() } },
    { method: "prompts/get", params: { name: secret.toLowerCase() } },
    { method: "resources/read", params: { uri: `x://${secret.toUpperCase()}` } },
  ];
  for (const at of [server, limited]) await setVariables(rig.database, at, { TOKEN: secret });
  const post = async (at: typeof server, call: object) =>
    (await postTo(at.url, JSON.stringify({ jsonrpc: "2.0", id: 1, ...call }))).text();
  for (const call of open) await post(server, call);
  const rows = await rig.rows(server.projectId, open.length);
  expect(rows.map(({ target }) => target).sort()).toEqual(["[TOKEN]", "[TOKEN]", "use_[TOKEN]", "x://[TOKEN]"]);
  await post(limited, { method: "tools/call", params: { name: secret } });
  const [refused] = await rig.rows(limited.projectId, 1);
  expect(refused).toMatchObject({ target: "[TOKEN]", isRefused: true });
  expect(refused?.errorMessage).toContain('The tool "[TOKEN]" is not allowed');
  for (const at of [server, limited]) {
    const { rows: all } = await rig.database.pool.query("SELECT * FROM request_log WHERE project_id = $1", [
      at.projectId,
    ]);
    expect(JSON.stringify(all).toLowerCase()).not.toContain(secret.toLowerCase());
  }
});

test("KEY-4 GW-7 the first 300 characters of a tool's error are kept without capture, redacted before they are cut", async () => {
  const text = `${"x".repeat(280)} ${token} ${Object.values(forms).join(" ")}`;
  const failed = { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text }], isError: true } };
  const server = await rig.deploy(inPieces(failed, 100));
  await setVariables(rig.database, server, { TOKEN: token });
  await (await postTo(server.url)).text();
  const [row] = await rig.rows(server.projectId, 1);
  expect(row).toMatchObject({ outcome: "tool_error", responsePayload: null, requestPayload: null });
  expect(row?.errorMessage).toBe(`${"x".repeat(280)} [TOKEN] [TOKEN] [T…`);
  expectNoForm(await stored(server, 1));
});

test("KEY-4 GW-7 of a tool's error that is cut within a value, at most 15 of its characters are kept", async () => {
  const value = Array.from({ length: 500 }, (_, at) => `part${at}`).join("-");
  const failed = { jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: `no ${value}` }], isError: true } };
  const server = await rig.deploy(inPieces(failed, 500));
  await setVariables(rig.database, server, { TOKEN: value });
  await (await postTo(server.url)).text();
  expect((await rig.rows(server.projectId, 1))[0]?.errorMessage).toBe("no [TOKEN]");
});

test("KEY-4 ORG-3 a value of a server's variables is kept in no row of a portal through which the server is called", async () => {
  const server = await rig.deploy(createMcpListener());
  // What the tool `fail` says, and the name of another one.
  await setVariables(rig.database, server, { TOKEN: "it failed", NAME: "secret-tool" });
  await storeManifest(rig, server);
  const portal = await addPortal(rig, [{ server, prefix: "here" }]);
  const { pool } = rig.database;
  await pool.query("UPDATE project SET capture_payloads = true WHERE id = $1", [portal.projectId]);
  await pool.query("UPDATE route SET label = label WHERE project_id = $1", [portal.projectId]);
  const rowsOf = async (method: string) => {
    const ofMethod = "SELECT * FROM request_log WHERE project_id = $1 AND method = $2 ORDER BY id";
    return (await pool.query(ofMethod, [portal.projectId, method])).rows;
  };
  // Once payloads are kept.
  await until(async () => {
    await postTo(portal.url, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }));
    return (await rowsOf("initialize")).some((row) => row.request_payload !== null);
  });
  for (const client of [await connectModern(portal.url), (await connectLegacy(portal.url)).client]) {
    await client.callTool({ name: "fail", arguments: { text: "" } });
    await client.callTool({ name: "secret-tool", arguments: {} }).catch(() => {});
    await client.close();
  }
  await until(async () => (await rowsOf("tools/call")).length === 4);
  const rows = await rowsOf("tools/call");
  expect(rows.map((row) => row.target)).toEqual(["fail", "[NAME]", "fail", "[NAME]"]);
  for (const row of [rows[0], rows[2]]) {
    expect(row).toMatchObject({ outcome: "tool_error", error_message: "[TOKEN]" });
    expect(JSON.stringify(row.response_payload)).toContain("[TOKEN]");
  }
  expect(JSON.stringify(rows)).not.toMatch(/it failed|secret-tool/);
});

test("KEY-4 of a large answer that is cut within a value, at most 15 of its characters are kept", async () => {
  // So that what is kept of the first 64 KiB ends within the value, which is longer than what is left out at the end.
  const value = Array.from({ length: 200 }, (_, at) => `part${at}`).join("-");
  const text = `${"x".repeat(64 * 1024 - 700)} ${value}`;
  const server = await rig.deploy(inPieces(result(text), 4096), { capturePayloads: true });
  await setVariables(rig.database, server, { TOKEN: value });
  await (await postTo(server.url)).text();
  const [row] = await rig.rows(server.projectId, 1);
  expect(row?.responseTruncated).toBe(true);
  expect(JSON.stringify(row?.responsePayload)).toMatch(/x \[TOKEN\]…"/);
});

test("KEY-4 KEY-2 values are decrypted for callers only, once for all requests, with an entry in the audit log", async () => {
  const server = await rig.deploy(inPieces(result(token), 9), { capturePayloads: true, authMode: "towpath-cloud" });
  await setVariables(rig.database, server, { TOKEN: token });
  expect((await postTo(server.url)).status).toBe(401);
  const open = await rig.deploy(inPieces(result(token), 9), { capturePayloads: true });
  await setVariables(rig.database, open, { TOKEN: token });
  await Promise.all(Array.from({ length: 10 }, async () => (await postTo(open.url)).text()));
  await rig.rows(open.projectId, 10);
  expect(await audited(server)).toEqual([]);
  const { organizationId, projectId } = open;
  expect(await audited(open)).toEqual([
    expect.objectContaining({
      organization_id: organizationId,
      project_id: projectId,
      detail: { reason: "redaction", versions: { TOKEN: 1 } },
    }),
  ]);
});

test("KEY-4 while values can't be read, calls go on and their texts are withheld; once they can, texts are kept", {
  timeout: 40_000,
}, async () => {
  const failing = { jsonrpc: "2.0", id: 1, error: { code: -32000, message: token } };
  const server = await rig.deploy(inPieces(failing, 9), { capturePayloads: true });
  await setVariables(rig.database, server, { TOKEN: token });
  const { pool } = rig.database;
  const rename = (from: string, to: string) => pool.query(`ALTER TABLE ${from} RENAME TO ${to}`);
  await rename("secret_version", "secret_version_hidden");
  try {
    expect(await (await postTo(server.url)).text()).toContain(JSON.stringify(failing));
    const [row] = await rig.rows(server.projectId, 1);
    const texts = { requestPayload: withheld, responsePayload: withheld, errorMessage: withheld };
    expect(row).toMatchObject({ ...texts, errorCode: -32000, outcome: "rpc_error" });
    await rename("audit_log", "audit_log_hidden");
  } finally {
    await rename("secret_version_hidden", "secret_version");
  }
  try {
    // What can't be audited is not decrypted.
    clock.pass(2100);
    await (await postTo(server.url)).text();
    expect((await rig.rows(server.projectId, 2))[0]).toMatchObject({ responsePayload: withheld });
  } finally {
    await rename("audit_log_hidden", "audit_log");
  }
  let calls = 2;
  await until(async () => {
    await (await postTo(server.url)).text();
    calls += 1;
    return (await rig.rows(server.projectId, calls))[0]?.errorMessage === "[TOKEN]";
  }, 20_000);
  expect(await audited(server)).toHaveLength(1);
  expectNoForm(await stored(server, calls));
});

test("KEY-4 a value that doesn't open withholds the texts, those of a tool's error too", async () => {
  const failed = { ...result(token), result: { content: [{ type: "text", text: token }], isError: true } };
  const server = await rig.deploy(inPieces(failed, 9), { capturePayloads: true });
  await setVariables(rig.database, server, { TOKEN: token });
  const change = "UPDATE secret_version SET ciphertext = left(ciphertext, -4) || 'AAAA' WHERE project_id = $1";
  await rig.database.pool.query(change, [server.projectId]);
  await (await postTo(server.url)).text();
  const texts = { responsePayload: withheld, errorMessage: withheld };
  expect((await rig.rows(server.projectId, 1))[0]).toMatchObject({ ...texts, outcome: "tool_error" });
  expectNoForm(await stored(server, 1));
});

test.runIf(isThorough)(
  "KEY-4 a FastMCP server that encodes its variable by Python's own means shows it to its callers only",
  {
    timeout: 180_000,
  },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "tp-rv-"));
    const path = join(directory, "mcp.sock");
    const script = new URL("testing/fastmcp/reveal.py", import.meta.url).pathname;
    const child = startPython([script, path]);
    try {
      await until(() => existsSync(path), 150_000);
      const server = await rig.deploy((_request, response) => response.destroy(), { capturePayloads: true });
      const endpoint = { kind: "unix" as const, path };
      rig.runner.servers.set(server.deploymentId, { instanceId: crypto.randomUUID(), endpoint });
      await setVariables(rig.database, server, { TOKEN: token });
      const modern = await connectModern(server.url);
      const { client: legacy } = await connectLegacy(server.url);
      for (const client of [modern, legacy] as const) {
        const { structuredContent } = await client.callTool({ name: "reveal", arguments: {} });
        expect(structuredContent).toMatchObject({ hex: forms.hex, [token]: "a name" });
        expect(await client.callTool({ name: "fail", arguments: {} })).toMatchObject({ isError: true });
        const { resources } = await client.listResources();
        await client.readResource({ uri: resources[0]?.uri ?? "" });
        await client.close();
      }
      // There are also rows of a discovery, or of initialization and its notifications.
      await until(
        async () =>
          (await rig.rows(server.projectId, 10)).filter((row) => row.method === "resources/read").length === 2,
      );
      const rows = await rig.rows(server.projectId, 10);
      expect(rows.filter((row) => row.tool === "fail").map((row) => JSON.stringify(row.responsePayload))).toEqual([
        expect.stringContaining("401 for [TOKEN]"),
        expect.stringContaining("401 for [TOKEN]"),
      ]);
      expectNoForm(await stored(server, 10));
    } finally {
      // uv's child is the server: both are in one process group.
      if (child.pid) process.kill(-child.pid, "SIGKILL");
      await rm(directory, { recursive: true, force: true });
    }
  },
);

function startPython(argv: readonly string[]): ChildProcess {
  return spawn("uv", ["run", "--no-project", "--with", "fastmcp==4.1.2", "python", ...argv], {
    stdio: "ignore",
    env: { ...process.env, TOKEN: token, FASTMCP_HTTP_HOST_ORIGIN_PROTECTION: "false" },
    detached: true,
  });
}
