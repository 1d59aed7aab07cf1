import { readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { secretHeader } from "@towpath/runner-api";
import { runnerContract } from "@towpath/runner-api/contract";
import type { RuntimeDriver } from "@towpath/runtime";
import { createFakeDriver, shortDirectory, tinyServer } from "@towpath/runtime/testing";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { startRunner } from "./compose.ts";
import { readConfig } from "./config.ts";
import { createLightDriver } from "./testing/light-driver.ts";
import { seedDeployment } from "./testing/seed-deployment.ts";

const environmentOf = (database: TestDatabase, directory: string) => ({
  DATABASE_URL: database.url,
  TOWPATH_DATA_DIR: directory,
  TOWPATH_RUN_DIR: directory,
  TOWPATH_SECRET: "x".repeat(32),
  TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
});

/** A driver without processes whose servers listen; the entrypoint's name determines their behavior. */
async function listeningDriver(): Promise<RuntimeDriver> {
  const { driver } = createLightDriver();
  const secret = "of these servers";
  // Whoever asks without it finds a broken server.
  const answering = createServer(({ headers }, response) =>
    response.writeHead(headers[secretHeader] === secret ? 200 : 500).end(),
  );
  const silent = createServer();
  const endpoints = await Promise.all(
    [answering, silent].map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return { kind: "tcp", host: "127.0.0.1", port: (server.address() as AddressInfo).port, secret } as const;
    }),
  );
  return {
    ...driver,
    servers: {
      ...driver.servers,
      async start(spec, onOutput) {
        if (spec.server.entrypoint === "failing.py:mcp")
          return { ok: false, cause: "exited", status: null, exit: null };
        const started = await driver.servers.start(spec, onOutput);
        if (!started.ok) return started;
        const endpoint = endpoints[spec.server.entrypoint === "silent.py:mcp" ? 1 : 0];
        return { ...started, handle: { ...started.handle, ...(endpoint && { endpoint }) } };
      },
    },
    async close() {
      for (const server of [answering, silent]) {
        server.close();
        server.closeAllConnections();
      }
      await driver.close();
    },
  };
}

runnerContract("the runner in the network, its servers too", async () => {
  const database = await createTestDatabase();
  const directory = await shortDirectory();
  const config = readConfig({ ...environmentOf(database, directory), TOWPATH_RUNNER_ADDRESS: "127.0.0.1:0" });
  const quick = { ...config, timing: { ...config.timing, answerTimeoutMs: 500 } };
  const runner = await startRunner(quick, pino({ level: "silent" }), await listeningDriver());
  const seed = async (entrypoint: string) => (await seedDeployment(database.db, { entrypoint })).deploymentId;
  return {
    address: runner.address,
    answering: [await seed("one.py:mcp"), await seed("other.py:mcp")],
    failing: await seed("failing.py:mcp"),
    silent: await seed("silent.py:mcp"),
    async close() {
      await runner.close();
      await database.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
});

test("RUN-3 a runner that shuts down stops its servers properly even if the database does not answer", async () => {
  const database = await createTestDatabase();
  const directory = await shortDirectory();
  const config = readConfig(environmentOf(database, directory));
  const holding = await database.pool.connect();
  onTestFinished(async () => {
    holding.release();
    await database.close();
    await rm(directory, { recursive: true, force: true });
  });
  // The report on this host's isolation, made at the start, cannot be written.
  await holding.query("BEGIN; LOCK TABLE host_isolation IN ACCESS EXCLUSIVE MODE");
  const driver = createFakeDriver(tinyServer.driverConfig(directory));
  const closeDriver = vi.spyOn(driver, "close");
  const runner = await startRunner(config, pino({ level: "silent" }), driver);
  const closed = runner.close();
  await vi.waitFor(() => expect(closeDriver).toHaveBeenCalled(), 5000);
  await holding.query("COMMIT");
  await closed;
});

test("OPS-3 a runner whose database was used by a newer release leaves the servers to the runner that has them", async () => {
  const database = await createTestDatabase();
  const directory = await shortDirectory();
  onTestFinished(async () => {
    await database.close();
    await rm(directory, { recursive: true, force: true });
  });
  await database.pool.query(
    "INSERT INTO drizzle.__drizzle_migrations (hash, created_at) SELECT 'x', max(created_at) + 1 FROM drizzle.__drizzle_migrations",
  );
  const config = readConfig(environmentOf(database, directory));
  const { driver } = createLightDriver();
  await expect(startRunner(config, pino({ level: "silent" }), driver)).rejects.toThrow("a newer release of Towpath");
  // No generation was claimed, which would have shut out the other runner.
  expect(await readdir(directory)).toEqual([]);
});
