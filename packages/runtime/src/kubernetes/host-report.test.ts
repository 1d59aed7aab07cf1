import { expect, test } from "vitest";
import { cachedProbe, isolationOf, kubernetesHost } from "./host-report.ts";

const good = { "own user": "", capabilities: "", privileges: "", "no token": "", "system calls": "" };

test("RUN-7 RUN-1 a cluster is trusted if pods lack no protection that tenants' code needs", () => {
  expect(isolationOf({ pythons: [], checks: good })).toMatchObject({ trusted: true, problems: [] });
  const open = isolationOf({ pythons: [], checks: { ...good, "system calls": "not filtered" } });
  expect(open).toMatchObject({
    trusted: true,
    problems: ["Pods of servers lack a protection (system calls): not filtered."],
  });
  expect(isolationOf({ pythons: [], checks: { ...good, "own user": "it runs as root" } }).trusted).toBe(false);
});

test("RUN-7 BLD-18 Pythons are those of the image, found by version and by range, and asked for again after an error", async () => {
  let asked = 0;
  const probe = cachedProbe(async () => {
    asked++;
    if (asked === 1) throw new Error("the cluster is busy");
    return { pythons: ["3.9.2", "3.11.7", "3.10.4"], checks: good };
  });
  const none = { usage: async () => [], problem: () => null, remove: async () => [] };
  const network = { network: null, isNetworkRequired: false };
  const host = kubernetesHost({ namespace: "n", dataDirectory: "/", probe, ...network, data: none });
  expect(await host.selfTest()).toMatchObject({ trusted: false, problems: ["the cluster is busy"] });
  expect((await host.pythons.list()).map(({ version }) => version)).toEqual(["3.11.7", "3.10.4", "3.9.2"]);
  const find = (request: string | null) => host.pythons.find(request);
  expect(await Promise.all([null, "3.10", "3.9.2", ">=3.10,<3.11", "3.1", ">=3.12"].map(find))).toEqual([
    "3.11.7",
    "3.10.4",
    "3.9.2",
    "3.10.4",
    null,
    null,
  ]);
  expect(asked).toBe(2);
  expect(await host.pythons.bring("3.12")).toMatchObject({ ok: false });
});

const enforced = { reached: [], reachesServers: false, isCalled: true };

test("RUN-7 OPS-2 what a server reaches is a problem in one sentence with the remedy, and refuses servers only where policies are required", () => {
  const probe = { pythons: [], checks: good };
  expect(isolationOf(probe, enforced, true)).toMatchObject({ trusted: true, refuses: false, problems: [] });
  const reached = ["other servers (10.0.0.9:8000)", "the API server (10.0.0.1:443)"];
  const open = { ...enforced, reached, reachesServers: true };
  expect(isolationOf(probe, open)).toMatchObject({
    trusted: true,
    refuses: false,
    problems: [expect.stringContaining(`not enforced: a server reaches ${reached.join(", ")}. Use a network plug-in`)],
  });
  expect(isolationOf(probe, open, true)).toMatchObject({ trusted: false, refuses: true });
  const gap = { ...enforced, reached: ["the API server (203.0.113.1:443)"] };
  expect(isolationOf(probe, gap).problems).toEqual([expect.stringContaining("tenants.networkPolicies.deny")]);
  expect(isolationOf(probe, { problem: "The quota is used up." }, true)).toMatchObject({
    refuses: true,
    problems: ["It could not be tested whether network policies are enforced: The quota is used up."],
  });
  expect(isolationOf(probe, { ...enforced, isCalled: false }, true)).toMatchObject({
    trusted: true,
    problems: [expect.stringContaining("reaches no server. Let gateway, runner and worker")],
  });
});
