import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { repositoryRoot, towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";
import { runScenario } from "./suite.ts";

/** Each needs a tool that lasts, one that asks, or one that does neither. */
const scenarios = [
  "tasks-lifecycle",
  "tasks-mrtr-input",
  ...(isThorough
    ? [
        "tasks-capability-negotiation",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
        "tasks-mrtr-composition",
      ]
    : []),
];

beforeAll(async () => {
  const deployed = await towpath(
    "deploy",
    join(repositoryRoot, "tests", "conformance", "taskless"),
    "--name",
    "taskless-server",
    "--entrypoint",
    "server.py:mcp",
    "--public",
    "--data-dir",
    inject("dataDirectory"),
  );
  expect(deployed.stdout + deployed.stderr).toContain("Live: ");
});

// `tasks-required-task-error` wants a tool that can only be called as a task, which a server without tasks can't have;
// the suite skips `tasks-status-notifications`.
test.runIf(isThorough).each(scenarios)(
  "CAP-2 a FastMCP server that knows nothing of tasks passes the suite's scenario %s",
  async (scenario) => {
    const { passed, failed } = await runScenario(`${inject("serversUrl")}/taskless-server/mcp`, scenario);
    expect(failed).toBe(0);
    expect(passed).toBeGreaterThanOrEqual(2);
  },
);
