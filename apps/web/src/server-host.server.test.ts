import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refusalCode } from "@towpath/core/testing";
import type { RunnerErrorCode } from "@towpath/runner-api";
import { createRunnerStandIn, type RunnerStandIn } from "@towpath/runner-api/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServerHost } from "./server-host.server.ts";

let directory: string;
let runner: RunnerStandIn;
let host: ReturnType<typeof openServerHost>;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "server-host-"));
  runner = createRunnerStandIn({ kind: "unix", path: join(directory, "runner.sock") });
  await runner.start();
  host = openServerHost(runner.address);
});
afterAll(async () => {
  await host.close();
  await runner.stop();
  await rm(directory, { recursive: true });
});

const endpoint = { kind: "unix", path: "/nowhere" } as const;
function server(more: { failure?: { code: RunnerErrorCode; message: string }; isSilent?: boolean } = {}): string {
  const id = randomUUID();
  runner.servers.set(id, { instanceId: randomUUID(), endpoint, ...more });
  return id;
}

test("PRJ-14 a version's server is started before it goes live", async () => {
  const id = server();
  await host.verify(id);
  expect(runner.ensured).toContain(id);
});

test.each([
  ["start_failed", "The server did not start: it exited with status 1.", "conflict"],
  ["crash_backoff", "The server keeps failing: no module named x", "conflict"],
  ["capacity", "This machine is full", "upstream_unavailable"],
  ["stopping", "The runner is shutting down.", "upstream_unavailable"],
] as const)(
  "PRJ-14 a version whose server can't be started (%s) is refused, with what to do",
  async (code, message, refused) => {
    const id = server({ failure: { code, message } });
    const verified = host.verify(id);
    await expect(verified).rejects.toMatchObject({ code: refused });
    await expect(verified).rejects.toThrow(`: ${message.replace(/\.$/, "")}. Your live version is unaffected.`);
  },
);

test("PRJ-14 a version is also refused if its server doesn't answer, if it is gone, or while the runner is unreachable", async () => {
  await expect(host.verify(server({ isSilent: true }))).rejects.toThrow(/is no longer running: It does not answer\./);
  expect(await refusalCode(host.verify(randomUUID()))).toBe("not_found");
  const nobody = openServerHost({ kind: "unix", path: join(directory, "nobody.sock") });
  await expect(nobody.verify(server())).rejects.toThrow(/can't start now: the runner is not running\. Your live/);
  await nobody.close();
});
