import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { makePortal } from "../instance/make-portal.ts";
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
    server,
    "--entrypoint",
    "server.py:mcp",
    "--public",
    "--data-dir",
    inject("dataDirectory"),
  );
  expect(deployed.stdout + deployed.stderr).toContain("Live: ");
});

const server = "taskless-server";
const targets = {
  server: async () => `${inject("serversUrl")}/${server}/mcp`,
  portal: async () => {
    portal ??= makePortal({ name: "taskless-portal", server, authMode: "towpath-public" });
    const { href } = await portal;
    await expect
      .poll(async () => (await fetch(href, { method: "POST", body: "[]" })).status, { timeout: 20_000 })
      .toBe(400);
    return href;
  },
};
let portal: ReturnType<typeof makePortal> | undefined;

// `tasks-required-task-error` wants a tool that can only be called as a task, which a server without tasks can't have;
// the suite skips `tasks-status-notifications`.
test
  .runIf(isThorough)
  .each(
    scenarios.flatMap((scenario) => (["server", "portal"] as const).map((through) => [scenario, through] as const)),
  )(
  "CAP-2 a FastMCP server that knows nothing of tasks passes the suite's scenario %s through a %s",
  async (scenario, through) => {
    const { passed, failed } = await runScenario(await targets[through](), scenario);
    expect(failed).toBe(0);
    expect(passed).toBeGreaterThanOrEqual(2);
  },
);
