import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { makePortal } from "../instance/make-portal.ts";
import { instancePorts, repositoryRoot, towpath } from "../instance/towpath-process.ts";
import { isThorough } from "../thorough.ts";
import { revisions, runSuite, serveDirectly } from "./suite.ts";

let bare: ChildProcess;
let barePort: number;

beforeAll(async () => {
  barePort = (await instancePorts()).web;
  const directory = join(repositoryRoot, "tests", "conformance", "server");
  const deployed = await towpath(
    "deploy",
    directory,
    "--name",
    "conformance-server",
    "--entrypoint",
    "server.py:mcp",
    "--public",
    "--data-dir",
    inject("dataDirectory"),
  );
  expect(deployed.stdout + deployed.stderr).toContain(`Live: ${inject("serversUrl")}/conformance-server/mcp`);
  bare = await serveDirectly(barePort);
});

afterAll(() => {
  if (bare?.pid) process.kill(-bare.pid, "SIGTERM");
});

// Scenarios of each revision that FastMCP 4.1.2 passes without Towpath. Its gaps: a task that asks before it is
// created, and in the older revision subscriptions and resumed streams.
const passing = { "2026-07-28": 49, "2025-11-25": 30 };

const verdicts = new Map<string, ReturnType<typeof runSuite>>();

/** How the scenarios end without Towpath. They run once: the server alone and behind a portal is compared with the same. */
function bareVerdicts(revision: (typeof revisions)[number]) {
  const known = verdicts.get(revision) ?? runSuite(`http://localhost:${barePort}/mcp`, revision);
  verdicts.set(revision, known);
  return known;
}

/** Gateway tests ask for the earlier revisions. */
test.each(isThorough ? revisions : revisions.slice(0, 1))(
  "GW-2 revision %s: behind Towpath every scenario ends as it does bare",
  async (revision) => {
    const direct = await bareVerdicts(revision);
    const through = await runSuite(`${inject("serversUrl")}/conformance-server/mcp`, revision);
    expect(Object.fromEntries(through)).toEqual(Object.fromEntries(direct));
    const withoutFailure = [...direct.values()].filter((verdict) => verdict.failed === 0).length;
    expect(withoutFailure).toBeGreaterThanOrEqual(passing[revision]);
  },
);

/** Makes an open portal of the deployed server, and waits until it answers. */
async function portalUrl(): Promise<string> {
  const server = "conformance-server";
  const url = await makePortal({ name: "conformance-portal", server, authMode: "towpath-public" });
  await expect
    .poll(async () => (await fetch(url, { method: "POST", body: "[]" })).status, { timeout: 20_000 })
    .toBe(400);
  return url.href;
}

test.runIf(isThorough)("ORG-3 GW-2 the server behind a portal ends every scenario as it does bare", async () => {
  const url = await portalUrl();
  for (const revision of isThorough ? revisions : revisions.slice(0, 1)) {
    const direct = await bareVerdicts(revision);
    const through = await runSuite(url, revision);
    const differing = [...direct].filter(([name, { failed }]) => failed === 0 && through.get(name)?.failed !== 0);
    expect(
      differing.map(([name]) => [name, through.get(name)]),
      revision,
    ).toEqual([]);
  }
});
