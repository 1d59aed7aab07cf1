import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openClusterDriver, type RuntimeDriver } from "@towpath/runtime/testing/cluster";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { renderText, valuesOf } from "../chart/render.ts";
import { clusterOf, nodeAddress } from "./cluster.ts";
import { enforcePolicies } from "./network-plugin.ts";
import { openServersRig, type ServersRig } from "./servers-rig.ts";

// What the check of the network finds on a cluster whose plug-in enforces no policy, and on one that does.

const cluster = clusterOf(inject("clusterDirectory"));
let directory: string;
let rig: ServersRig;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tp-network-"));
  rig = await openServersRig(cluster, directory);
  const values = ["--set", `tenants.namespace=${rig.namespace}`, "--show-only", "templates/tenants-network.yaml"];
  const policies = join(directory, "policies.yaml");
  await writeFile(policies, await renderText(...valuesOf("smallest"), "--set", "networkPolicies=false", ...values));
  await cluster.kubectl("apply", "-f", policies);
}, 900_000);
afterAll(async () => {
  await rig.close();
  await rm(directory, { recursive: true, force: true });
});

function open(isRequired: boolean): RuntimeDriver {
  const role = { kind: "servers", identity: rig.identity, adoptWithinMs: 0, onSuperseded: () => {} } as const;
  const driver = openClusterDriver(
    { ...rig.settings(directory), network: { targets: [], isRequired } },
    rig.layers,
    role,
  );
  onTestFinished(() => driver.close());
  return driver;
}

test("RUN-7 OPS-2 a cluster that enforces no network policy is reported as such, with what a server reaches", async () => {
  const { checks, problems, trusted, refuses } = await open(false).host.selfTest();
  expect(checks).toContainEqual(expect.objectContaining({ name: "network policies", ok: false, required: false }));
  expect(checks).toContainEqual(expect.objectContaining({ name: "calls", ok: true }));
  expect([trusted, refuses]).toEqual([true, false]);
  const [problem] = problems;
  expect(problem).toMatch(
    /^Network policies are not enforced: a server reaches other servers \(10\.244\.\d+\.\d+:8000\), /,
  );
  for (const reached of [`its node (${nodeAddress}:10250)`, `the API server (${nodeAddress}:6443)`, "Calico or Cilium"])
    expect(problem).toContain(reached);
}, 120_000);

test("RUN-7 OPS-2 where policies are required, nothing starts until they are enforced", async () => {
  const { problems, trusted, refuses } = await open(true).host.selfTest();
  expect([trusted, refuses]).toEqual([false, true]);
  expect(problems[0]).toContain("Network policies are not enforced");
  const plugin = await enforcePolicies(cluster, directory);
  onTestFinished(() => plugin.stop());
  const report = await open(true).host.selfTest();
  expect(report).toMatchObject({ trusted: true, refuses: false, problems: [] });
  expect(report.checks).toContainEqual(expect.objectContaining({ name: "network policies", ok: true }));
}, 120_000);
