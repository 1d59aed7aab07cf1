import { expect, test } from "vitest";
import { buildVolumes } from "../../port/builds.ts";
import { type BuildPodSpec, buildPod, containerFor } from "./build-pod.ts";

const mebibyte = 1024 ** 2;
const spec: BuildPodSpec = {
  name: "build-1",
  build: {
    buildId: "b1",
    organizationId: "org-1",
    limits: { memoryBytes: 1024 * mebibyte, processes: 64, cpus: 2, tmpBytes: 64 * mebibyte },
    diskBytes: 512 * mebibyte,
    freeBytes: 0,
  },
  cacheClaim: null,
  secretDigests: { files: "f1", install: "e1", code: "c1" },
};
const settings = {
  image: "towpath/servers:1",
  imagePullPolicy: "Always",
  pullSecrets: [],
  runtimeClass: "gvisor",
  storageClass: null,
} as const;
const pod = buildPod(spec, settings);
const containers = new Map(pod.spec?.containers.map((container) => [container.name, container]));
const pathsOf = (name: string) =>
  Object.fromEntries(
    containers.get(name)?.volumeMounts?.map(({ name: volume, mountPath }) => [volume, mountPath]) ?? [],
  );

test("RUN-1 a build's pod is restricted: no token, no root, no capability, nothing of the cluster", () => {
  const user = pod.spec?.securityContext?.runAsUser;
  expect(user).toBeGreaterThan(1_000_000);
  expect(pod.spec).toMatchObject({
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    dnsPolicy: "Default",
    runtimeClassName: "gvisor",
    terminationGracePeriodSeconds: 1,
    securityContext: {
      runAsNonRoot: true,
      runAsGroup: user,
      fsGroup: user,
      seccompProfile: { type: "RuntimeDefault" },
    },
  });
  expect([...containers.keys()]).toEqual(["files", "install", "code"]);
  for (const container of containers.values())
    expect(container).toMatchObject({
      image: "towpath/servers:1",
      imagePullPolicy: "Always",
      terminationMessagePolicy: "File",
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
        readOnlyRootFilesystem: true,
      },
    });
  const users = [spec.build.organizationId, "org-2"].map(
    (organizationId) => buildPod({ ...spec, build: { ...spec.build, organizationId } }, settings).spec?.securityContext,
  );
  expect(users[0]?.runAsUser).toBe(user);
  expect(users[1]?.runAsUser).not.toBe(user);
  expect(buildPod(spec, { ...settings, runtimeClass: null }).spec).not.toHaveProperty("runtimeClassName");
});

test("RUN-1 only the platform's container has all volumes and the place of packed layers", () => {
  expect(pathsOf("files")).toEqual({
    ...Object.fromEntries(buildVolumes.map((volume) => [volume, `/volumes/${volume}`])),
    packed: "/packed",
  });
  expect(pathsOf("install")).toEqual({
    source: "/volumes/source",
    tree: "/volumes/tree",
    work: "/app/build",
    dependencies: "/app/.venv",
    cache: "/cache/uv",
    "install-app": "/app",
    "install-run": "/run/towpath",
    "install-tmp": "/tmp",
  });
  expect(pathsOf("code")).toEqual({
    source: "/volumes/source",
    code: "/app/build",
    "code-app": "/app",
    "code-run": "/run/towpath",
    "code-tmp": "/tmp",
  });
  const readOnly = [...containers.values()].flatMap(({ name, volumeMounts }) =>
    (volumeMounts ?? []).filter((each) => each.readOnly).map((each) => `${name} ${each.name}`),
  );
  expect(readOnly).toEqual(["install source", "code source"]);
  expect(containerFor([{ volume: "source" }, { volume: "code" }])).toBe("code");
  expect(containerFor([{ volume: "source" }, { volume: "cache" }])).toBe("install");
  expect(containerFor([])).toBe("install");
});

test("RUN-1 limits of a build are those of its pod", () => {
  expect(containers.get("install")?.resources).toEqual({
    requests: { cpu: "100m", memory: "512Mi" },
    limits: { cpu: "2000m", memory: "1048Mi" },
  });
  expect(containers.get("code")?.resources?.limits).toEqual({ cpu: "2000m", memory: "536Mi" });
  const limitOf = (name: string) => pod.spec?.volumes?.find((volume) => volume.name === name)?.emptyDir?.sizeLimit;
  expect(["dependencies", "cache", "install-tmp", "install-app"].map(limitOf)).toEqual([
    "1024Mi",
    "1024Mi",
    "64Mi",
    "1Mi",
  ]);
});

test("a container knows the digest of its own secret only, and a claim takes the place of the cache", () => {
  for (const [name, digest] of Object.entries(spec.secretDigests)) {
    const text = JSON.stringify(containers.get(name));
    expect(Object.values(spec.secretDigests).filter((each) => text.includes(`"${each}"`))).toEqual([digest]);
  }
  const claimed = buildPod({ ...spec, cacheClaim: "cache-1" }, settings);
  const cache = claimed.spec?.volumes?.find(({ name }) => name === "cache");
  expect(cache).toEqual({ name: "cache", persistentVolumeClaim: { claimName: "cache-1" } });
  expect(pod.metadata.labels).toEqual({
    "app.kubernetes.io/managed-by": "towpath",
    "towpath.dev/role": "build",
    "towpath.dev/build": "b1",
    "towpath.dev/organization": "org-1",
    "towpath.dev/network": "internet",
  });
});
