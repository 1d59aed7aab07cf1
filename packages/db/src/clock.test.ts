import { expect, test, vi } from "vitest";
import { openDatabase } from "./client.ts";
import { clockWarning, logClock } from "./clock.ts";
import { openTestDatabase, setClockBack } from "./testing/test-database.ts";

const database = openTestDatabase();

test("OPS-6 a clock that differs from the database's is a warning with the difference, in the log too", async () => {
  const log = { warn: vi.fn() };
  await logClock(database.pool, "runner", log);
  expect(log.warn).not.toHaveBeenCalled();
  const warnings: (string | null)[] = [];
  for (const seconds of [25, 90, -90]) {
    await setClockBack(database.pool, seconds);
    const { pool, close } = openDatabase(database.url, { maxConnections: 1 });
    warnings.push(await clockWarning(pool, "runner"));
    await logClock(pool, "runner", log);
    await close();
  }
  expect(warnings).toEqual([
    null,
    expect.stringMatching(/runner's machine is (89|90|91) s ahead of the database's.*timedatectl/),
    expect.stringMatching(/runner's machine is (89|90|91) s behind the database's/),
  ]);
  expect(log.warn.mock.calls.flat()).toEqual(warnings.slice(1).map(() => expect.stringContaining("runner's machine")));
  const gone = openDatabase("postgresql://nobody@/none?host=/nowhere", { maxConnections: 1 });
  expect(await clockWarning(gone.pool, "runner")).toBeNull();
  await gone.close();
});
