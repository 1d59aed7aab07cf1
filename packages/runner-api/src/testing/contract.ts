import { randomUUID } from "node:crypto";
import { Client } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRunnerClient, type RunnerClient } from "../client.ts";
import { type LeasedInstance, RunnerError, runnerCalls } from "../contract.ts";
import { dialTarget, type RunnerAddress, type ServerEndpoint, secretHeader } from "../endpoint.ts";

/** A running runner with four deployments, of which no server runs yet. */
export type ContractSubject = {
  readonly address: RunnerAddress;
  /** Their servers answer at /mcp. */
  readonly answering: readonly [string, string];
  /** Its server ends at its start. */
  readonly failing: string;
  /** Its server starts and does not answer at /mcp. */
  readonly silent: string;
  close(): Promise<void>;
};

/** The runner's contract with gateway and worker. Every implementation runs it. */
export function runnerContract(name: string, open: () => Promise<ContractSubject>): void {
  describe(`runner contract: ${name}`, () => {
    let subject: ContractSubject;
    let runner: RunnerClient;
    beforeAll(async () => {
      subject = await open();
      runner = createRunnerClient(subject.address, { timeoutMs: 60_000 });
    }, 120_000);
    afterAll(async () => {
      await runner?.close();
      await subject?.close();
    }, 60_000);

    leaseTests(
      () => runner,
      () => subject,
    );
    prewarmTest(() => runner);
    refusalTests(
      () => runner,
      () => subject,
    );
  });
}

function prewarmTest(runner: () => RunnerClient): void {
  test("RUN-3 the runner reports how many interpreters wait for a server, and how often they were used", async () => {
    const report = await runner().prewarm();
    expect(report.ready).toBeGreaterThanOrEqual(0);
    expect(report.memoryBytes).toBeLessThanOrEqual(report.maxMemoryBytes);
  });
}

function leaseTests(runner: () => RunnerClient, subject: () => ContractSubject): void {
  test("RUN-3 concurrent calls to ensure start a server once, and return its endpoint and lease", async () => {
    const deploymentId = subject().answering[0];
    const leases = await Promise.all([1, 2, 3].map(() => runner().ensure(deploymentId)));
    expect(new Set(leases.map((each) => each.instanceId)).size).toBe(1);
    const [lease] = leases as [LeasedInstance];
    expect(lease).toMatchObject({ state: "started", leaseMs: expect.any(Number), waitedMs: expect.any(Number) });
    expect(await statusOf(lease.endpoint)).toBeLessThan(500);
    // The call that starts it also gets what that has shown.
    expect(lease.shown).toMatchObject({ output: expect.any(Array) });
    const again = await runner().ensure(deploymentId);
    expect(again).toMatchObject({ instanceId: lease.instanceId, state: "ready" });
    expect(again.shown).toBeUndefined();
  });

  test("RUN-3 GW-12 isRunning and state start nothing; after a stop, the next start is another instance", async () => {
    const deploymentId = subject().answering[1];
    const listed = async () => (await runner().list()).filter((each) => each.deploymentId === deploymentId);
    expect(await runner().isRunning(deploymentId, randomUUID())).toBe(false);
    expect(await runner().state(deploymentId)).toBe("stopped");
    expect(await listed()).toEqual([]);
    const { instanceId } = await runner().ensure(deploymentId);
    expect(await runner().isRunning(deploymentId, instanceId)).toBe(true);
    expect(await runner().state(deploymentId)).toBe("ready");
    expect(await runner().isRunning(deploymentId, randomUUID())).toBe(false);
    expect(await runner().isRunning(subject().answering[0], instanceId)).toBe(false);
    expect(await listed()).toMatchObject([{ id: instanceId, state: "ready", failures: 0 }]);
    await runner().stop(deploymentId);
    await runner().stop(deploymentId);
    expect(await runner().isRunning(deploymentId, instanceId)).toBe(false);
    expect(await listed()).toEqual([]);
    expect((await runner().ensure(deploymentId)).instanceId).not.toBe(instanceId);
  });

  test("BLD-10 verify distinguishes a server that answers at /mcp from one that started but does not", async () => {
    const answering = subject().answering[0];
    const { instanceId } = await runner().verify(answering);
    expect(await runner().isRunning(answering, instanceId)).toBe(true);
    await expect(runner().ensure(subject().silent)).resolves.toMatchObject({ state: "started" });
    await expect(runner().verify(subject().silent)).rejects.toMatchObject({ code: "no_answer", waitHelps: false });
  });

  test("RUN-1 the runner is healthy and reports its isolation", async () => {
    await runner().health();
    expect(await runner().isolation()).toMatchObject({ trusted: true, problems: [] });
  });
}

function refusalTests(runner: () => RunnerClient, subject: () => ContractSubject): void {
  test("RUN-3 a server that does not start is refused with the reason, as not worth retrying", async () => {
    const refused = await runner()
      .ensure(subject().failing)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RunnerError);
    expect(refused).toMatchObject({ code: "start_failed", waitHelps: false });
    expect((refused as Error).message).not.toBe("");
  });

  test("RUN-3 an unknown deployment and an invalid id are not found", async () => {
    for (const id of [randomUUID(), "no-id", "..", "a/b", "%2e%2e", ""]) {
      await expect(runner().ensure(id)).rejects.toMatchObject({ code: "not_found", waitHelps: false });
    }
    await runner().stop(randomUUID());
  });

  test("RUN-3 an unknown path or method is 404", async () => {
    const { address } = subject();
    const { origin, options } = dialTarget(address);
    const client = new Client(origin, options);
    const headers = address.kind === "tcp" ? { authorization: `Bearer ${address.secrets[0]}` } : {};
    for (const [method, path] of [
      ["GET", "/"],
      ["GET", "/v1/instances/"],
      ["GET", `${runnerCalls.health.path}?x`],
      ["POST", runnerCalls.list.path],
      ["GET", `/v1/deployments/${subject().answering[0]}/ensure`],
    ] as const) {
      const { statusCode, body } = await client.request({ method, path, headers });
      expect([statusCode, await body.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
    }
    await client.close();
  });

  test("RUN-3 a caller that aborts gets its own reason; the start in the runner continues", async () => {
    const reason = new Error("the build was canceled");
    const given = runner().ensure(subject().answering[0], { signal: AbortSignal.abort(reason) });
    await expect(given).rejects.toBe(reason);
    await expect(runner().ensure(subject().answering[0])).resolves.toMatchObject({ leaseMs: expect.any(Number) });
  });
}

async function statusOf(endpoint: ServerEndpoint): Promise<number> {
  const { origin, options } = dialTarget(endpoint);
  const client = new Client(origin, options);
  try {
    const { statusCode, body } = await client.request({
      method: "GET",
      path: "/mcp",
      headers: { [secretHeader]: endpoint.secret },
    });
    await body.dump();
    return statusCode;
  } finally {
    await client.close();
  }
}
