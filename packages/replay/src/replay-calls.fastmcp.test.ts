import { afterAll, beforeAll, expect, test } from "vitest";
import { checkChange, codeOf } from "../../../tests/bench/pull-request-check/check-change.ts";
import { metrics } from "../../../tests/bench/pull-request-check/metrics.ts";
import { PythonServers } from "../../../tests/bench/pull-request-check/python-servers.ts";
import { users } from "../../../tests/bench/pull-request-check/users.ts";
import { isThorough } from "../../../tests/thorough.ts";

let python: PythonServers;

beforeAll(async () => {
  python = await PythonServers.open();
}, 180_000);
afterAll(() => python.close());

// All 17 servers and 272 changes: tests/bench/pull-request-check.ts.
const changes = {
  metrics: [
    "duration in milliseconds, still called seconds",
    "window ends two hours ago",
    "history described as another tool",
    "new field",
  ],
  users: ["argument login renamed to username", "paging off by one", "other numbers of calls at the start", "faster"],
};

test.each(isThorough ? [metrics, users] : [metrics])(
  "CAP-4 FastMCP server $name: changes that break callers are found, others are not",
  async (server) => {
    const production = await python.start(await codeOf(server));
    const chosen = [...server.faults, ...server.harmless].filter(({ what }) =>
      changes[server.name as keyof typeof changes].includes(what),
    );
    const found: string[] = [];
    for (const change of chosen) {
      const { isDifferent, isInconclusive, seconds } = await checkChange(python, server, production, change);
      expect(seconds).toBeLessThan(60);
      if (isDifferent || isInconclusive) found.push(change.what);
    }
    await production.stop();
    expect(chosen).toHaveLength(4);
    expect(found).toEqual(chosen.filter((change) => server.faults.includes(change)).map(({ what }) => what));
  },
  240_000,
);
