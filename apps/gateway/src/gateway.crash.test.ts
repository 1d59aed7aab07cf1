import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openRig, until } from "./testing/rig.ts";
import { deployProcess, outputLine, type ServerProcess } from "./testing/server-process.ts";

const rig = openRig({ TOWPATH_GATEWAY_HOLD_MS: "20000" });
let directory: string;
const opened: { close: () => Promise<void> }[] = [];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-mr-"));
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

const text = { text: "x" };

async function deploy(options: { backlog?: number } = {}): Promise<ServerProcess> {
  const server = await deployProcess(rig, options);
  opened.push(server);
  return server;
}

async function open(transport: Transport): Promise<Client> {
  const client = new Client({ name: "crash-test", version: "1" });
  await client.connect(transport);
  opened.push(client);
  return client;
}

const viaHttp = (url: URL) => open(new StreamableHTTPClientTransport(url));

function viaMcpRemote(url: URL): Promise<Client> {
  const program = new URL(import.meta.resolve("mcp-remote/dist/proxy.js")).pathname;
  return open(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, url.href, "--transport", "http-only", "--allow-http"],
      env: { PATH: "", HOME: directory, MCP_REMOTE_CONFIG_DIR: directory },
      stderr: "ignore",
    }),
  );
}

const clients = { "the SDK's client": viaHttp, ...(isThorough && { "mcp-remote": viaMcpRemote }) };

test.each(Object.entries(clients))(
  "GW-13 a tool whose server dies in the middle of the call ran once, for %s",
  async (_, connectTo) => {
    const server = await deploy();
    const client = await connectTo(server.url);
    const restarted = server.restartAfterCrash({ noticedAfterMs: 0, backOffMs: 0 });
    await expect(client.callTool({ name: "die", arguments: text })).rejects.toThrow(/502|closed the connection/);
    await restarted;
    expect(await server.runs()).toBe(1);
    await until(async () =>
      (await rig.rows(server.projectId, 1)).some((row) => row.target === "die" && row.httpStatus === 502),
    );
  },
);

test("GW-13 RUN-6 after a crash the next requests are held until the server is back", async () => {
  const server = await deploy();
  const client = await viaHttp(server.url);
  const exited = once(server.current().child, "exit");
  const restarted = server.restartAfterCrash({ noticedAfterMs: 300, backOffMs: 400 });
  await expect(client.callTool({ name: "die", arguments: text })).rejects.toMatchObject({ code: 502 });
  // While it ends, its socket still takes connections for a moment.
  await exited;
  // The runner names the dead instance, then says to wait: the client must see neither.
  const [next, lost] = await Promise.allSettled([viaHttp(server.url), client.listTools()]);
  await restarted;
  if (next.status === "rejected") throw next.reason;
  expect((await next.value.callTool({ name: "echo", arguments: text })).content).toEqual([{ type: "text", ...text }]);
  // The old session died with its process, and nothing of the request was sent: initialize again.
  expect(lost).toMatchObject({ status: "rejected", reason: { code: 404 } });
});

test("GW-13 a wait that would exceed the hold is refused at once, with its reason", async () => {
  const server = await deploy();
  const failure = { code: "crash_backoff", message: "The server keeps failing: out of memory." } as const;
  rig.runner.servers.set(server.deploymentId, {
    instanceId: "",
    endpoint: { kind: "unix", path: server.current().socketPath },
    failure: { ...failure, retryAfterMs: 30_000 },
  });
  const answer = await fetch(server.url, { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "30"]);
  expect(await answer.json()).toMatchObject({ error: { message: failure.message } });
});

test("RUN-8 a request that comes while the runner is being restarted is held until the next one serves", async () => {
  const server = await deploy();
  const instance = rig.runner.servers.get(server.deploymentId);
  if (!instance) throw new Error("the server is not there");
  const failure = { code: "stopping", message: "The runner is shutting down.", retryAfterMs: 300 } as const;
  rig.runner.servers.set(server.deploymentId, { ...instance, failure });
  const connecting = viaHttp(server.url);
  setTimeout(() => rig.runner.servers.set(server.deploymentId, instance), 200);
  expect((await (await connecting).listTools()).tools.length).toBeGreaterThan(0);
});

test("RUN-6 a server too busy to take connections keeps its sessions: the request waits", async () => {
  const server = await deploy({ backlog: 1 });
  const client = await viaHttp(server.url);
  // Servers of other tests have their leases renewed meanwhile.
  const asked = () => rig.runner.ensured.filter((id) => id === server.deploymentId).length;
  const leases = asked();
  const { child, socketPath } = server.current();
  const isBusy = outputLine(child, "busy");
  child.kill("SIGUSR2");
  await isBusy;
  const fillers = await fillBacklog(socketPath);
  expect((await client.callTool({ name: "echo", arguments: text })).content).toEqual([{ type: "text", ...text }]);
  expect(asked()).toBe(leases);
  for (const socket of fillers) socket.destroy();
});

/** Opens connections until the server's queue is full, which shows as EAGAIN. */
async function fillBacklog(socketPath: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (;;) {
    const socket = connect(socketPath);
    const code = await new Promise((resolve) => {
      socket.once("connect", () => resolve(null));
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    if (code === "EAGAIN") return sockets;
    if (code !== null) throw new Error(`the server does not answer: ${code}`);
    sockets.push(socket);
  }
}
