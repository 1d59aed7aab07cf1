import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { chart, valuesOf } from "../chart/render.ts";
import { clusterOf } from "./cluster.ts";
import { helmIn } from "./helm.ts";

// What only an API server says about the chart's objects. The roles themselves don't run here: the image is another.

const cluster = clusterOf(inject("clusterDirectory"));
const { createNamespace, kubectl } = cluster;
const [namespace, tenants] = ["chart-test", "chart-test-servers"];
let directory = "";
let common: readonly string[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-chart-"));
  const image = { repository: "towpath.test/pause", tag: "1", pullPolicy: "Never" };
  const resources = { requests: { cpu: "1m", memory: "8Mi" } };
  const roles = Object.fromEntries(["web", "gateway", "worker", "runner"].map((role) => [role, { resources }]));
  const values = { image, serversImage: image, ...roles, tenants: { namespace: tenants, createNamespace: true } };
  await writeFile(join(directory, "values.json"), JSON.stringify(values));
  common = [...valuesOf("ingress"), "--values", join(directory, "values.json")];
  await createNamespace(namespace);
  await kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
});
afterAll(async () => {
  await kubectl("delete", "namespace", namespace, tenants, "--ignore-not-found", "--wait=false");
  await rm(directory, { recursive: true, force: true });
});

const runHelm = (...args: readonly string[]) => helmIn(cluster, { namespace, directory })(...args);
const upgrade = (...args: readonly string[]) => runHelm("upgrade", "--install", "towpath", chart, ...common, ...args);
const secret = () =>
  kubectl("-n", namespace, "get", "secret", "towpath-instance", "-o=jsonpath={.data.TOWPATH_SECRET}");
const names = async (kind: string) => await kubectl("-n", namespace, "get", kind, "-o=name");

test("OPS-2 a migration that fails ends the install before anything is made", async () => {
  // Its only program doesn't know the command.
  await expect(upgrade("--set", "migrate.deadlineSeconds=3")).rejects.toThrow(/towpath-migrate.*Failed/);
  expect(await names("deployments")).toBe("");
  await runHelm("uninstall", "towpath");
});

test("OPS-2 OPS-11 a restricted namespace takes all objects and pods, and an upgrade keeps the generated secret", async () => {
  await upgrade("--no-hooks");
  const made = await secret();
  expect(made).toMatch(/^\w{60,}=*$/);
  const running = () => kubectl("-n", namespace, "get", "pods", "-o=jsonpath={.items[*].status.phase}");
  await expect.poll(running, { timeout: 60_000 }).toBe(Array(8).fill("Running").join(" "));
  await upgrade("--no-hooks", "--set-string", "settings.TOWPATH_LOG_LEVEL=debug");
  expect(await secret()).toBe(made);
});

test("OPS-2 runner and worker may do in the tenants' namespace what they need, and nothing elsewhere", async () => {
  const may = async (role: string, verb: string, resource: string, within: string, ...options: readonly string[]) => {
    const account = `--as=system:serviceaccount:${namespace}:towpath-${role}`;
    // Its status says no, too.
    const asked = kubectl("auth", "can-i", verb, resource, "-n", within, account, ...options);
    return (await asked.catch(({ stdout }: { readonly stdout: string }) => stdout)).trim() === "yes";
  };
  for (const role of ["runner", "worker"]) {
    expect([role, await may(role, "create", "pods", tenants)]).toEqual([role, true]);
    expect([role, await may(role, "get", "pods", tenants, "--subresource=log")]).toEqual([role, true]);
    expect([role, await may(role, "create", "pods", namespace)]).toEqual([role, false]);
    expect([role, await may(role, "list", "secrets", namespace)]).toEqual([role, false]);
    expect([role, await may(role, "create", "pods", tenants, "--subresource=exec")]).toEqual([role, false]);
  }
  expect(await may("runner", "update", "leases/towpath-runner", tenants)).toBe(true);
  expect(await may("runner", "update", "leases/other", tenants)).toBe(false);
  expect(await may("worker", "list", "secrets", tenants)).toBe(false);
  for (const [slice, allowed] of [
    ["towpath-runner-leader", true],
    ["other", false],
  ] as const)
    expect([slice, await may("runner", "update", `endpointslices/${slice}`, namespace)]).toEqual([slice, allowed]);
});

test("OPS-2 a StorageClass that the cluster lacks is refused", async () => {
  const asked = upgrade("--set", "tenants.data.enabled=true,tenants.data.storageClass=none-such");
  await expect(asked).rejects.toThrow(/This cluster has no StorageClass none-such: set tenants\.data\.storageClass/);
});

test("OPS-2 an uninstall keeps the secret of the instance and the data of servers", async () => {
  const made = await secret();
  await runHelm("uninstall", "towpath");
  expect(await secret()).toBe(made);
  expect(await kubectl("get", "namespace", tenants, "-o=jsonpath={.status.phase}")).toBe("Active");
});
