import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createTestDatabase, setClockBack } from "@towpath/db/testing";
import { stopLimits } from "@towpath/role";
import { expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openDatabaseLink } from "./testing/database-link.ts";

const main = new URL("./main.ts", import.meta.url).pathname;

async function lineWith(child: ChildProcess, text: string): Promise<string> {
  if (!child.stdout) throw new Error("no output");
  for await (const line of createInterface(child.stdout)) if (line.includes(text)) return line;
  throw new Error(`the process ended without saying ${text}`);
}

/** A way to a database that can stop carrying bytes while its connections stay open. */
async function openDatabaseProxy(databaseUrl: string, directory: string) {
  const url = new URL(databaseUrl.replace("@/", "@localhost/"));
  const socketName = `.s.PGSQL.${url.searchParams.get("port") ?? 5432}`;
  const realDirectory = url.searchParams.get("host") ?? "";
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(join(realDirectory, socketName));
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => {}));
    client.pipe(upstream).pipe(client);
  });
  proxy.listen(join(directory, socketName));
  await once(proxy, "listening");
  return {
    url: databaseUrl.replace(encodeURIComponent(realDirectory), encodeURIComponent(directory)),
    hang: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

const spawnMain = (databaseUrl: string, directory: string, workers: number, settings: NodeJS.ProcessEnv = {}) =>
  spawn(process.execPath, [main], {
    env: {
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATABASE_URL: databaseUrl,
      TOWPATH_DATA_DIR: directory,
      TOWPATH_RUN_DIR: directory,
      TOWPATH_SECRET: "x".repeat(32),
      TOWPATH_SERVER_URL: "http://localhost:1/{name}",
      TOWPATH_GATEWAY_PORT: "0",
      TOWPATH_GATEWAY_WORKERS: String(workers),
      ...settings,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });

async function startMain(workers: number, settings: NodeJS.ProcessEnv = {}) {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "tp-main-"));
  const proxy = await openDatabaseProxy(database.url, directory);
  const child = spawnMain(proxy.url, directory, workers, settings);
  const ready = JSON.parse(await lineWith(child, '"msg":"ready"'));
  /** Stops it like the supervisor. Returns the exit status; null if it had to be killed. */
  const stop = async (): Promise<number | null> => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), stopLimits.killMs);
    const [code] = await once(child, "exit");
    clearTimeout(timer);
    proxy.close();
    await database.close();
    await rm(directory, { recursive: true });
    return code;
  };
  return { child, port: Number(ready.port), hangDatabase: proxy.hang, stop };
}

test("OPS-1 the process reports when it serves, and SIGTERM ends it with a connection open", async () => {
  const { child, port, stop } = await startMain(1);
  const health = await fetch(`http://127.0.0.1:${port}/-/healthz`);
  expect(await health.json()).toMatchObject({ ok: true, routes: 0 });
  // One worker needs no second process.
  expect(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8")).toBe("");
  expect(await stop()).toBe(0);
});

test("OPS-6 a gateway whose clock differs from the database's says so when it starts", async () => {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "tp-main-"));
  await setClockBack(database.pool, 90);
  const child = spawnMain(database.url, directory, 1);
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
    await database.close();
    await rm(directory, { recursive: true });
  });
  const line = await lineWith(child, "clock");
  expect(JSON.parse(line).msg).toMatch(/of the gateway's machine is (89|90|91) s ahead of the database's.*timedatectl/);
});

test("OPS-11 CAP-2 a gateway that drains gives what is under way the time that its setting says", async () => {
  const settings = { TOWPATH_SIGTERM: "drain", TOWPATH_GATEWAY_DRAIN_SECONDS: "1" };
  const { port, stop } = await startMain(1, settings);
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  socket.write("POST /echo/mcp HTTP/1.1\r\nhost: local");
  const closed = once(socket.resume(), "close");
  const from = performance.now();
  expect(await stop()).toBe(0);
  await closed;
  // Less would be without draining, more the usual five minutes.
  expect(performance.now() - from).toBeGreaterThan(990);
});

test("OPS-1 GW-10 a gateway that starts while the database refuses goes on, and isn't ready until that is back", async () => {
  const database = await createTestDatabase();
  const directory = await mkdtemp(join(tmpdir(), "tp-main-"));
  const link = await openDatabaseLink(database.url);
  onTestFinished(async () => {
    await link.close();
    await database.close();
    await rm(directory, { recursive: true });
  });
  await link.cut();
  const child = spawnMain(link.url, directory, 1);
  onTestFinished(() => void child.kill("SIGKILL"));
  const { port } = JSON.parse(await lineWith(child, '"msg":"ready"'));
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  expect(await statusOf("/-/healthz")).toBe(503);
  expect(await statusOf("/echo/mcp")).toBe(503);
  await link.restore();
  await expect.poll(() => statusOf("/-/healthz"), { timeout: 20_000 }).toBe(200);
});

test.runIf(isThorough)(
  "OPS-1 workers with a request that doesn't end and a database that hangs exit before they are killed",
  async () => {
    const { port, hangDatabase, stop } = await startMain(2);
    const sockets = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = connect(port, "127.0.0.1");
        await once(socket, "connect");
        socket.write("POST /echo/mcp HTTP/1.1\r\nhost: local");
        return socket.on("error", () => {}).resume();
      }),
    );
    hangDatabase();
    expect(await stop()).toBe(0);
    for (const socket of sockets) socket.destroy();
  },
);

test("OPS-1 with missing settings the process ends with status 1 and a list", async () => {
  const child = spawn(process.execPath, [main], { env: {}, stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr?.on("data", (chunk) => {
    text += chunk;
  });
  const [code] = await once(child, "close");
  expect(code).toBe(1);
  expect(text).toContain("DATABASE_URL");
  expect(text).toContain("TOWPATH_SERVER_URL");
});
