import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createRunnerClient } from "../client.ts";
import type { RunnerAddress } from "../endpoint.ts";
import { runnerAddressFrom, runnerListenAddressFrom, runnerListenSettings } from "../settings.ts";
import { type ContractSubject, runnerContract } from "./contract.ts";
import { createRunnerStandIn, type RunnerStandIn } from "./stand-in.ts";

let directory: string;
let server: Server;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-ra-"));
  server = createServer((_request, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true, force: true });
});

function serve(standIn: RunnerStandIn, change: object = {}): string {
  const deploymentId = randomUUID();
  const endpoint = { kind: "tcp", host: "127.0.0.1", port: (server.address() as AddressInfo).port } as const;
  standIn.servers.set(deploymentId, { instanceId: randomUUID(), endpoint, ...change });
  return deploymentId;
}

async function open(address: RunnerAddress): Promise<ContractSubject> {
  const standIn = createRunnerStandIn(address);
  await standIn.start();
  return {
    address: standIn.address,
    answering: [serve(standIn), serve(standIn)],
    failing: serve(standIn, { failure: { code: "start_failed", message: "It ended by itself." } }),
    silent: serve(standIn, { isSilent: true }),
    close: () => standIn.stop(),
  };
}

const inNetwork = (...secrets: [string, ...string[]]): RunnerAddress => ({
  kind: "tcp",
  host: "127.0.0.1",
  port: 0,
  secrets,
});

runnerContract("stand-in on a unix socket", () => open({ kind: "unix", path: join(directory, "runner.sock") }));
runnerContract("stand-in in the network", () => open(inNetwork("the secret of this instance")));

test("over the network every call but health needs a secret; during rotation the old one is accepted too", async () => {
  const standIn = createRunnerStandIn(inNetwork("the new secret", "the old secret"));
  await standIn.start();
  const { address } = standIn;
  if (address.kind !== "tcp") throw new Error("not in the network");
  const ask = async (path: string, method = "GET") => {
    const answer = await fetch(`http://127.0.0.1:${address.port}${path}`, { method });
    return [answer.status, await answer.json()];
  };
  expect(await ask("/healthz")).toEqual([200, { status: "ok" }]);
  for (const path of ["/healthz?x", "/v1/instances", "/v1/isolation", "/v1/prewarm", "/v1/none"])
    expect(await ask(path)).toMatchObject([401, { error: { code: "unauthorized" } }]);
  expect(await ask("/healthz", "POST")).toMatchObject([401, { error: { code: "unauthorized" } }]);
  const deploymentId = serve(standIn);
  const ensureWith = async (secret: string) => {
    const client = createRunnerClient({ ...address, secrets: [secret] }, { timeoutMs: 5000 });
    return client.ensure(deploymentId).finally(() => client.close());
  };
  for (const secret of ["", "the secret", "the new secret'"]) {
    await expect(ensureWith(secret)).rejects.toMatchObject({ code: "unauthorized", waitHelps: false });
  }
  expect(standIn.ensured).toEqual([]);
  for (const secret of ["the new secret", "the old secret"])
    await expect(ensureWith(secret)).resolves.toMatchObject({ leaseMs: 10_000 });
  await standIn.stop();
});

test("the runner's address is a setting, and all processes of an instance derive the same secret for it", async () => {
  const schema = z.object({ ...runnerListenSettings, TOWPATH_RUN_DIR: z.string(), TOWPATH_SECRET: z.string() });
  const valuesWith = (address: string | undefined, secret = "one", listen?: string) =>
    schema.parse({
      TOWPATH_RUNNER_ADDRESS: address,
      TOWPATH_RUNNER_LISTEN: listen,
      TOWPATH_RUN_DIR: "/run/t",
      TOWPATH_SECRET: secret,
    });
  const addressWith = (...given: Parameters<typeof valuesWith>) => runnerAddressFrom(valuesWith(...given));
  expect(addressWith(undefined)).toEqual({ kind: "unix", path: "/run/t/runner.sock" });
  const one = addressWith("runner.internal:9000");
  expect(one).toEqual({
    kind: "tcp",
    host: "runner.internal",
    port: 9000,
    secrets: [expect.stringMatching(/^[\w-]{43}$/)],
  });
  expect(addressWith("[::1]:9000")).toEqual({ ...one, host: "::1" });
  expect(addressWith("runner.internal:9000", "another")).not.toEqual(one);
  // A service's name leads to the runner and can't be bound by it.
  const listenAt = (...given: Parameters<typeof valuesWith>) => runnerListenAddressFrom(valuesWith(...given));
  expect(listenAt("runner.internal:9000", "one", "0.0.0.0:9001")).toEqual({ ...one, host: "0.0.0.0", port: 9001 });
  expect(listenAt("runner.internal:9000")).toEqual(one);
  expect(listenAt(undefined)).toEqual({ kind: "unix", path: "/run/t/runner.sock" });
  expect(() => listenAt(undefined, "one", "9001")).toThrow("must be host:port");
  for (const wrong of ["", "runner", "runner:", ":9000", "http://runner:9000", "runner:90000", "::1:9000"])
    expect(() => addressWith(wrong), wrong).toThrow();
});
