import { expect, test } from "vitest";
import { cachedProbe, isolationOf, kubernetesHost } from "./host-report.ts";

const good = { "own user": "", capabilities: "", privileges: "", "no token": "", metadata: "" };

test("RUN-7 RUN-1 a cluster is trusted if pods lack no protection that tenants' code needs", () => {
  expect(isolationOf({ pythons: [], checks: good })).toMatchObject({ trusted: true, problems: [] });
  const open = isolationOf({ pythons: [], checks: { ...good, metadata: "it reaches it" } });
  expect(open).toMatchObject({
    trusted: true,
    problems: ["Pods of servers lack a protection (metadata): it reaches it."],
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
  const none = { usage: async () => [], remove: async () => [] };
  const host = kubernetesHost({ namespace: "n", dataDirectory: "/", probe, data: none });
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
