import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import {
  claimLease,
  connectionOf,
  KubernetesApi,
  keepLease,
  leaseRequestMs,
  leaseTimes,
} from "@towpath/runtime/testing/cluster";
import { afterAll, beforeEach, expect, inject, onTestFinished, test } from "vitest";
import { clusterOf } from "./cluster.ts";
import { openLink } from "./slow-link.ts";

const cluster = clusterOf(inject("clusterDirectory"));
let api: KubernetesApi;
const namespaces: string[] = [];

beforeEach(async () => {
  const namespace = `leases-${Date.now()}`;
  namespaces.push(namespace);
  await cluster.createNamespace(namespace);
  api = new KubernetesApi(() => connectionOf({ kind: "kubeconfig", path: cluster.kubeconfig }), namespace);
});
afterAll(() => cluster.kubectl("delete", "namespace", ...namespaces, "--wait=false"));

const lease = async () => await api.get("leases", "towpath-runner");

/** Another process that has the lease. */
async function startHolder(): Promise<ChildProcess> {
  const program = join(import.meta.dirname, "lease-holder.ts");
  const child = spawn(process.execPath, [program, cluster.kubeconfig, api.namespace], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(createInterface(child.stdout), "line");
  return child;
}

test("RUN-8 a waiting runner leads at most 10 s after the leader was killed, and never while that one renews", async () => {
  const holder = await startHolder();
  let isWaiting = false;
  let leads = false;
  const onWaiting = async () => {
    isWaiting = true;
  };
  const claimed = claimLease(api, { onWaiting }).then((identity) => {
    leads = true;
    return identity;
  });
  await sleep(leaseTimes.durationMs + 2 * leaseTimes.lookMs);
  expect([isWaiting, leads]).toEqual([true, false]);
  holder.kill("SIGKILL");
  const killedAt = performance.now();
  const before = await lease();
  const second = await claimed;
  const tookMs = performance.now() - killedAt;
  process.stdout.write(`The lease of a killed runner was taken after ${Math.round(tookMs)} ms.\n`);
  expect(second).toEqual({ id: before?.metadata.uid, generation: 2 });
  // It waited for the whole duration since the last renewal, as both wrote it.
  const after = (await lease())?.spec;
  const unrenewedMs = Date.parse(after?.acquireTime ?? "") - Date.parse(before?.spec?.renewTime ?? "");
  expect(unrenewedMs).toBeGreaterThanOrEqual(leaseTimes.durationMs);
  expect(tookMs).toBeLessThan(10_000);
});

test("RUN-8 a holder that can't renew stops changing things before another one can have the lease, and then ends", async () => {
  const link = await openLink(cluster);
  const renewals = new KubernetesApi(link.connect, api.namespace, { requestMs: leaseRequestMs });
  onTestFinished(async () => {
    await renewals.close();
    link.close();
  });
  let lost = 0;
  const first = keepLease(renewals, await claimLease(renewals), () => lost++);
  // Its other requests still arrive: only the lease holds them back.
  const fenced = new KubernetesApi(
    () => connectionOf({ kind: "kubeconfig", path: cluster.kubeconfig }),
    api.namespace,
    { beforeChange: first.sure },
  );
  onTestFinished(() => fenced.close());
  const change = (name: string) => fenced.create("secrets", { metadata: { name } });
  await change("before");
  const taken = claimLease(api).then(() => performance.now());
  link.cut();
  const changes: { readonly name: string; readonly at: number }[] = [];
  let takenAt: number | null = null;
  void taken.then((at) => {
    takenAt = at;
  });
  const refused: string[] = [];
  for (let index = 0; takenAt === null; index++) {
    const name = `change-${index}`;
    void change(name).then(
      () => changes.push({ name, at: performance.now() }),
      (error: Error) => refused.push(error.message),
    );
    await sleep(50);
  }
  // It was sure for a while, and has stopped by itself, though nobody could say anything to it.
  const lastAt = Math.max(...changes.map(({ at }) => at));
  expect(changes.length).toBeGreaterThan(10);
  expect(takenAt - lastAt).toBeGreaterThan(leaseTimes.durationMs - leaseTimes.sureMs - 500);
  expect(lost).toBe(0);
  const done = new Set(changes.map(({ name }) => name));
  link.restore();
  await expect.poll(() => lost, { timeout: 10_000 }).toBe(1);
  await expect(change("after")).rejects.toThrow("Another runner has the lease");
  // Those that waited were refused, too.
  await expect.poll(() => refused.some((message) => message.startsWith("Another runner"))).toBe(true);
  const { items } = await api.list("secrets", {});
  expect(new Set(items.map(({ metadata }) => metadata.name))).toEqual(new Set([...done, "before"]));
  await first.release();
  expect((await lease())?.spec?.leaseTransitions).toBe(1);
});

test("RUN-8 a pause of the API shorter than the lease holds changes back and loses none, and a lease that was given up is free", async () => {
  const link = await openLink(cluster);
  const cut = new KubernetesApi(link.connect, api.namespace, { requestMs: leaseRequestMs });
  onTestFinished(async () => {
    await cut.close();
    link.close();
  });
  let lost = 0;
  const kept = keepLease(cut, await claimLease(cut), () => lost++);
  await kept.sure();
  link.cut();
  await sleep(leaseTimes.sureMs + 500);
  let isSure = false;
  const waiting = kept.sure().then(() => {
    isSure = true;
  });
  await sleep(200);
  expect(isSure).toBe(false);
  link.restore();
  await waiting;
  expect(lost).toBe(0);
  // The next one need not wait for a lease that was given up.
  const next = claimLease(api);
  await kept.release();
  const releasedAt = performance.now();
  expect((await next).generation).toBe(2);
  expect(performance.now() - releasedAt).toBeLessThan(leaseTimes.durationMs / 2);
});
