import { rm } from "node:fs/promises";
import { createTestDatabase } from "@towpath/db/testing";
import { createFakeDriver, shortDirectory, tinyServer } from "@towpath/runtime/testing";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { startRunner } from "./compose.ts";
import { readConfig } from "./config.ts";

test("RUN-3 a runner that ends stops its servers in good order although the database does not answer", async () => {
  const database = await createTestDatabase();
  const folder = await shortDirectory();
  const config = readConfig({
    DATABASE_URL: database.url,
    TOWPATH_DATA_DIR: folder,
    TOWPATH_RUN_DIR: folder,
    TOWPATH_SECRET: "x".repeat(32),
    TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
  });
  const holding = await database.pool.connect();
  onTestFinished(async () => {
    holding.release();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });
  // The report on this host's isolation, made at the start, cannot be written.
  await holding.query("BEGIN; LOCK TABLE host_isolation IN ACCESS EXCLUSIVE MODE");
  const driver = createFakeDriver(tinyServer.driverConfig(folder));
  const closeDriver = vi.spyOn(driver, "close");
  const runner = await startRunner(config, pino({ level: "silent" }), driver);
  const closed = runner.close();
  await vi.waitFor(() => expect(closeDriver).toHaveBeenCalled(), 5000);
  await holding.query("COMMIT");
  await closed;
});
