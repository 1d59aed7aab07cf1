import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { driverConfigFrom, driverSettings } from "../config.ts";
import { accountConnection, configuredConnection } from "./api/connection.ts";
import { podOf } from "./pod/parts.ts";

let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tw-kube-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const base = { TOWPATH_DRIVER: "kubernetes", TOWPATH_DATA_DIR: "/data", TOWPATH_RUN_DIR: "/run/t" };
const configOf = (more: Record<string, string>) => {
  const environment: Record<string, string> = { ...base, ...more };
  return driverConfigFrom(z.object(driverSettings).parse(environment), environment);
};
const needed = { TOWPATH_KUBERNETES_IMAGE: "servers:1", TOWPATH_ARTIFACTS: "s3://layers" };
const inCluster = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };

test("RUN-7 OPS-1 the Kubernetes driver names everything that it lacks at once", () => {
  expect(() => configOf({})).toThrow(
    /TOWPATH_KUBERNETES_IMAGE: .*\n.*TOWPATH_KUBERNETES_CONFIG: .*\n.*TOWPATH_ARTIFACTS: must be a bucket/,
  );
  expect(() => configOf({ TOWPATH_KUBERNETES_NAMESPACE: "No_Name" })).toThrow("must be the name of a namespace");
  expect(() => configOf({ TOWPATH_DRIVER: "docker" })).toThrow("must be sandbox or kubernetes");
});

test("RUN-7 in a pod it uses the pod's account, else a kubeconfig; an empty setting is none", () => {
  expect(configOf({ ...needed, ...inCluster, TOWPATH_KUBERNETES_RUNTIME_CLASS: "" })).toMatchObject({
    kind: "kubernetes",
    api: { kind: "account", host: "10.0.0.1", port: "443" },
    namespace: "towpath-servers",
    pods: {
      image: "servers:1",
      imagePullPolicy: "IfNotPresent",
      pullSecrets: [],
      runtimeClass: null,
      storageClass: null,
    },
    cache: null,
  });
  const more = { TOWPATH_KUBERNETES_CONFIG: "/etc/kubeconfig", TOWPATH_KUBERNETES_CACHE_STORAGE_CLASS: "fast" };
  expect(configOf({ ...needed, ...inCluster, ...more })).toMatchObject({
    api: { kind: "kubeconfig", path: "/etc/kubeconfig" },
    cache: { storageClass: "fast", accessMode: "ReadWriteOnce", bytes: 10 * 1024 ** 3 },
  });
});

test("RUN-7 waiting pods are used by a setting, and get a key that is derived from the instance's secret", () => {
  const keyOf = (more: Record<string, string>) => {
    const configured = configOf({ ...needed, ...inCluster, ...more });
    return configured.kind === "kubernetes" ? configured.waitingKey : null;
  };
  const waiting = { TOWPATH_KUBERNETES_WAITING_PODS: "yes" };
  expect(() => keyOf({ TOWPATH_KUBERNETES_PREWARMED_PODS: "2" })).toThrow(
    "must be 0 without TOWPATH_KUBERNETES_WAITING",
  );
  expect(keyOf({ TOWPATH_SECRET: "x".repeat(32) })).toBeNull();
  expect(keyOf({ ...waiting, TOWPATH_SECRET: "x".repeat(32) })).toHaveLength(32);
  expect(keyOf({ ...waiting, TOWPATH_SECRET: "x".repeat(32) })).not.toEqual(
    keyOf({ ...waiting, TOWPATH_SECRET: "y".repeat(32) }),
  );
  expect(() => keyOf(waiting)).toThrow("TOWPATH_SECRET: must be set, because waiting pods know the runner by a key");
  expect(() => keyOf({ TOWPATH_KUBERNETES_WAITING_PODS: "3" })).toThrow("must be yes or no");
});

test("RUN-7 OPS-2 pods of servers, builds and probes are pulled with the Secrets that a setting names", () => {
  const configured = configOf({
    ...needed,
    ...inCluster,
    TOWPATH_KUBERNETES_IMAGE_PULL_SECRETS: "registry, mirror.one",
  });
  expect(configured).toMatchObject({ pods: { pullSecrets: ["registry", "mirror.one"] } });
  if (configured.kind !== "kubernetes") throw new Error("another driver");
  expect(podOf(configured.pods, 1)).toMatchObject({ imagePullSecrets: [{ name: "registry" }, { name: "mirror.one" }] });
  expect(podOf({ ...configured.pods, pullSecrets: [] }, 1)).not.toHaveProperty("imagePullSecrets");
  expect(() => configOf({ ...needed, ...inCluster, TOWPATH_KUBERNETES_IMAGE_PULL_SECRETS: "a b" })).toThrow(
    "must be names of Secrets",
  );
});

test("RUN-8 the leading runner needs its address for the Service that it makes lead to itself", () => {
  const service = { ...needed, ...inCluster, TOWPATH_KUBERNETES_RUNNER_SERVICE: "platform/towpath-runner" };
  expect(() => configOf(service)).toThrow("TOWPATH_KUBERNETES_POD_ADDRESS: must be the pod's address");
  expect(() => configOf({ ...service, TOWPATH_KUBERNETES_POD_ADDRESS: "runner-0" })).toThrow("must be the IP address");
  expect(() => configOf({ ...service, TOWPATH_KUBERNETES_RUNNER_SERVICE: "runner" })).toThrow("must be NAMESPACE/NAME");
  for (const address of ["10.1.2.3", "fd00::7"])
    expect(configOf({ ...service, TOWPATH_KUBERNETES_POD_ADDRESS: address })).toMatchObject({
      leaderService: { namespace: "platform", name: "towpath-runner", address },
    });
  expect(configOf({ ...needed, ...inCluster })).toMatchObject({ leaderService: null });
});

const kubeconfig = `
current-context: here
contexts: [{ name: here, context: { cluster: one, user: me } }]
clusters: [{ name: one, cluster: { server: "https://10.0.0.1:6443", certificate-authority-data: ${btoa("authority")} } }]
users: [{ name: me, user: { client-certificate-data: ${btoa("certificate")}, client-key: key.pem } }]
`;

test("RUN-7 a kubeconfig gives address and credentials, and says what is wrong with it", async () => {
  const path = join(directory, "config");
  await writeFile(join(directory, "key.pem"), "key");
  await writeFile(path, kubeconfig);
  const { token, ...connection } = await configuredConnection(path);
  expect(connection).toEqual({
    server: "https://10.0.0.1:6443",
    tls: { ca: "authority", cert: "certificate", key: "key" },
  });
  expect(await token()).toBeNull();
  const wrong = async (from: string, to: string) => {
    await writeFile(path, kubeconfig.replace(from, to));
    return await configuredConnection(path).then(String, (error: Error) => error.message);
  };
  expect(await wrong("user: me", "user: you")).toBe(`The kubeconfig ${path} has no user named "you".`);
  expect(await wrong("client-key: key.pem", "exec: { command: login }")).toContain(
    "use a token or a client certificate",
  );
  expect(await wrong("https://", "ftp://")).toContain("isn't valid at clusters.0.cluster.server");
  expect(await wrong("current-context", "{")).toContain("isn't valid");
  await expect(configuredConnection(join(directory, "none"))).rejects.toThrow("can't be read (ENOENT)");
});

test("RUN-7 a pod's account is read again for each request, as the cluster replaces its token", async () => {
  const place = { host: "fd00::1", port: "443" };
  await expect(accountConnection(place, directory)).rejects.toThrow("automountServiceAccountToken: true");
  await writeFile(join(directory, "ca.crt"), "authority");
  await writeFile(join(directory, "token"), "first\n");
  const { server, tls, token } = await accountConnection(place, directory);
  expect({ server, tls }).toEqual({ server: "https://[fd00::1]:443", tls: { ca: "authority" } });
  expect(await token()).toBe("first");
  await writeFile(join(directory, "token"), "second");
  expect(await token()).toBe("second");
});
