import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { instancePorts, repositoryRoot, towpath } from "../instance/towpath-process.ts";
import { revisions, runSuite, serveDirectly } from "./suite.ts";

let bare: ChildProcess;
let barePort: number;

beforeAll(async () => {
  barePort = (await instancePorts()).web;
  const directory = join(repositoryRoot, "tests", "conformance", "server");
  const deployed = await towpath(
    ...["deploy", directory, "--name", "conformance-server", "--entrypoint", "server.py:mcp", "--public"],
    ...["--data-dir", inject("dataDirectory")],
  );
  expect(deployed.stdout + deployed.stderr).toContain(`Live: ${inject("serversUrl")}/conformance-server/mcp`);
  bare = await serveDirectly(barePort);
});

afterAll(() => {
  if (bare?.pid) process.kill(-bare.pid, "SIGTERM");
});

// How many scenarios of each revision FastMCP 4.0.10 passes by itself: subscriptions are its gap in the older one.
const passing = { "2026-07-28": 37, "2025-11-25": 28 };

test.each(revisions)("GW-2 revision %s: behind Towpath every scenario ends as it does bare", async (revision) => {
  const direct = await runSuite(`http://localhost:${barePort}/mcp`, revision);
  const through = await runSuite(`${inject("serversUrl")}/conformance-server/mcp`, revision);
  expect(Object.fromEntries(through)).toEqual(Object.fromEntries(direct));
  const withoutFailure = [...direct.values()].filter((verdict) => verdict.failed === 0).length;
  expect(withoutFailure).toBeGreaterThanOrEqual(passing[revision]);
});
