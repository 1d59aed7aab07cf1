import { fitsServer, serverPod } from "@towpath/runtime/testing/cluster";
import { expect, test } from "vitest";
import { named, type Rendered, render, renderText, valuesOf } from "./render.ts";

const image = "registry.example.com/towpath-servers:1";
const settings = { image, imagePullPolicy: "IfNotPresent", pullSecrets: [], storageClass: null } as const;
const mebibyte = 1024 ** 2;
/** The pod that the runner would create for a server with these limits. */
const expected = (limits: { memory: number; cpus: number; tmp: number }, runtimeClass: string | null = "gvisor") =>
  serverPod(
    {
      instanceId: "01936d3a-0000-7000-8000-000000000001",
      startTimeoutMs: 60_000,
      server: {
        layers: { dependencies: "a".repeat(64), code: "b".repeat(64) },
        pythonVersion: "3.11.7",
        entrypoint: "server.py:mcp",
        environment: {},
        limits: {
          memoryBytes: limits.memory * mebibyte,
          processes: 256,
          cpus: limits.cpus,
          tmpBytes: limits.tmp * mebibyte,
        },
        network: "internet",
      },
    },
    { id: "runner", lifetimeMs: null },
    { ...settings, runtimeClass },
  );
type Waiting = Parameters<typeof fitsServer>[0];
function templateOf(object: Rendered | undefined): Waiting {
  if (object === undefined) throw new Error("There is no Deployment.");
  return (object.spec as { template: Waiting }).template;
}

test("OPS-2 RUN-7 pods that wait are like those that the runner makes, by the same settings", async () => {
  const usual = { memory: 512, cpus: 1, tmp: 256 };
  const waiting = templateOf(named(await render("everything"), "Deployment", "waiting"));
  expect(fitsServer(waiting, expected(usual))).toBe(true);
  for (const change of [{ memory: 1024 }, { cpus: 2 }, { tmp: 64 }])
    expect([change, fitsServer(waiting, expected({ ...usual, ...change }))]).toEqual([change, false]);
  expect(fitsServer(waiting, expected(usual, null))).toBe(false);
  const limits = { TOWPATH_SERVER_MEMORY_MIB: 96, TOWPATH_SERVER_CPUS: 0.05, TOWPATH_SERVER_TMP_MIB: 32 };
  const small = Object.entries(limits).map(([name, value]) => `--set-string=settings.${name}=${value}`);
  const other = templateOf(named(await render("everything", ...small), "Deployment", "waiting"));
  expect(fitsServer(other, expected({ memory: 96, cpus: 0.05, tmp: 32 }))).toBe(true);
});

test("OPS-2 RUN-7 a pod that waits is restricted, and only the container without the server has the key", async () => {
  const { metadata, spec } = templateOf(named(await render("everything"), "Deployment", "waiting"));
  const own = expected({ memory: 512, cpus: 1, tmp: 256 }).spec;
  expect(metadata.labels).toMatchObject({ "towpath.dev/role": "waiting", "towpath.dev/network": "internet" });
  const anyUser = { runAsUser: 0, runAsGroup: 0, fsGroup: 0 };
  expect({ ...spec?.securityContext, ...anyUser }).toEqual({ ...own?.securityContext, ...anyUser });
  expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false, dnsPolicy: "Default" });
  expect(spec?.containers.map(({ name, securityContext }) => [name, securityContext])).toEqual(
    own?.containers.map(({ name, securityContext }) => [name, securityContext]),
  );
  const withKey = spec?.containers.filter(({ volumeMounts }) => volumeMounts?.some(({ name }) => name === "key"));
  expect(withKey?.map(({ name }) => name)).toEqual(["fetch"]);
});

test("OPS-2 RUN-3 the runner gets the number of pods that may hold an interpreter", async () => {
  expect(await renderText(...valuesOf("everything"))).toContain('TOWPATH_KUBERNETES_PREWARMED_PODS: "5"');
});

test("OPS-2 without waiting pods nothing of them is there", async () => {
  const text = await renderText(...valuesOf("smallest"));
  for (const setting of ["WAITING_PODS", "PREWARMED_PODS"]) expect(text).not.toContain(`TOWPATH_KUBERNETES_${setting}`);
  expect(text).not.toContain("towpath-waiting\n  namespace");
});
