import { expect, test } from "vitest";
import type { Stored } from "../api/objects.ts";
import { fitsServer } from "../pool/pool-fit.ts";
import { claimStart, prewarmedPod, prewarmStart, serverPod, serverSecret, serverStart } from "./server-pod.ts";

const mebibyte = 1024 ** 2;
const settings = {
  image: "registry.example.com/towpath-servers:1",
  imagePullPolicy: "IfNotPresent",
  pullSecrets: [],
  runtimeClass: null,
  storageClass: null,
} as const;
const spec = {
  instanceId: "01936d3a-0000-7000-8000-000000000001",
  startTimeoutMs: 60_000,
  memo: "a memo",
  server: {
    layers: { dependencies: "a".repeat(64), code: "b".repeat(64) },
    pythonVersion: "3.11.7",
    entrypoint: "server.py:mcp",
    environment: { TOKEN: "hidden" },
    limits: { memoryBytes: 512 * mebibyte, processes: 256, cpus: 1, tmpBytes: 64 * mebibyte },
    network: "internet",
  },
} as const;
const owner = { id: "runner-1", lifetimeMs: null };
const user = 745_515_269;
const container = {
  image: settings.image,
  imagePullPolicy: "IfNotPresent",
  terminationMessagePolicy: "File",
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
  },
};
const memory = (name: string, sizeLimit: string) => ({ name, emptyDir: { sizeLimit, medium: "Memory" } });

test("RUN-8 a server's pod that a build inspects is known by that build, which may be lost with its worker", () => {
  const buildId = "01936d3a-0000-7000-8000-00000000000b";
  const { labels } = serverPod({ ...spec, buildId }, { id: "worker-1", lifetimeMs: 1000 }, settings).metadata;
  expect(labels).toMatchObject({ "towpath.dev/role": "server", "towpath.dev/build": buildId });
});

test("RUN-7 RUN-1 a server's pod is restricted, waits for its Secret and gives the server none of it", () => {
  const name = `server-${spec.instanceId}`;
  expect(serverPod(spec, owner, settings)).toEqual({
    metadata: {
      name,
      labels: {
        "app.kubernetes.io/managed-by": "towpath",
        "towpath.dev/role": "server",
        "towpath.dev/owner": "runner-1",
        "towpath.dev/instance": spec.instanceId,
        "towpath.dev/network": "internet",
      },
    },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: "Default",
      terminationGracePeriodSeconds: 10,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        fsGroup: user,
        fsGroupChangePolicy: "OnRootMismatch",
        seccompProfile: { type: "RuntimeDefault" },
      },
      tolerations: ["not-ready", "unreachable"].map((condition) => ({
        key: `node.kubernetes.io/${condition}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 30,
      })),
      containers: [
        {
          ...container,
          name: "fetch",
          command: ["python3", "-m", "towpath_pod.fetch"],
          resources: {
            requests: { cpu: "10m", memory: "16Mi" },
            limits: { cpu: "1000m", memory: "256Mi" },
          },
          volumeMounts: [
            { name: "secret", mountPath: "/run/towpath-secret", readOnly: true },
            { name: "start", mountPath: "/run/towpath-start" },
            { name: "dependencies", mountPath: "/layers/dependencies" },
            { name: "layer", mountPath: "/layers/code" },
          ],
        },
        {
          ...container,
          name: "server",
          command: ["python3", "-m", "towpath_pod.serve"],
          ports: [{ name: "mcp", containerPort: 8000 }],
          resources: {
            requests: { cpu: "100m", memory: "152Mi" },
            limits: { cpu: "1000m", memory: "536Mi" },
          },
          // The Secret is not among them.
          volumeMounts: [
            { name: "start", mountPath: "/run/towpath-start" },
            { name: "dependencies", mountPath: "/app/.venv", readOnly: true },
            { name: "layer", mountPath: "/app/layer", readOnly: true },
            { name: "run", mountPath: "/run/towpath" },
            { name: "tmp", mountPath: "/tmp" },
            { name: "home", mountPath: "/home/towpath" },
            { name: "code", mountPath: "/app/src" },
            { name: "data", mountPath: "/data" },
          ],
        },
      ],
      volumes: [
        {
          name: "secret",
          secret: {
            secretName: name,
            items: [
              { key: "layers.json", path: "layers.json" },
              { key: "start.json", path: "start.json" },
            ],
          },
        },
        memory("start", "8Mi"),
        { name: "dependencies", emptyDir: { sizeLimit: "8192Mi" } },
        { name: "layer", emptyDir: { sizeLimit: "8192Mi" } },
        memory("run", "4Mi"),
        ...["tmp", "home", "code", "data"].map((each) => memory(each, "64Mi")),
      ],
    },
  });
});

test("RUN-7 nothing of a server's environment, memo or secret is in its pod", () => {
  const pod = JSON.stringify(serverPod(spec, owner, settings));
  for (const text of ["hidden", "a memo", "TOKEN"]) expect(pod).not.toContain(text);
  const stored = { metadata: { ...serverPod(spec, owner, settings).metadata, uid: "u-1" } } as Stored<"pods">;
  const layers = [{ url: "https://bucket/a", directory: "code", digest: "b" }];
  const { metadata, immutable, stringData = {} } = serverSecret(spec, stored, { secret: "s", layers }, false);
  // It goes with the pod.
  expect(metadata.ownerReferences).toEqual([{ apiVersion: "v1", kind: "Pod", name: metadata.name, uid: "u-1" }]);
  expect({ immutable, memo: stringData.memo, secret: stringData.secret }).toEqual({
    immutable: true,
    memo: "a memo",
    secret: "s",
  });
  expect(JSON.parse(stringData["layers.json"] ?? "")).toEqual(layers);
  const start = JSON.parse(stringData["start.json"] ?? "");
  expect(start).toMatchObject({
    directory: "/app/src",
    status: "/run/towpath/status.json",
    port: 8000,
    secret: "s",
    startSeconds: 60,
    limits: { processes: 256, sharesUser: false },
    environment: { TOKEN: "hidden", PYTHONPATH: "/opt/towpath/python", VIRTUAL_ENV: "/app/.venv" },
  });
  expect(start.argv).toContain("--listen=0.0.0.0:8000");
  // A pod that has waited gets the rest from the runner.
  const own = serverSecret(spec, stored, { secret: "s", layers }, true);
  expect(own.stringData).toEqual({ secret: "s", memo: "a memo" });
});

test("BLD-19 a server that keeps data has its claim, one user for all its pods, and runs where the others run", () => {
  const keeping = (instanceId: string) =>
    serverPod({ ...spec, instanceId, server: { ...spec.server, dataVolume: "v-1" } }, owner, settings);
  const [one, other] = [keeping("1"), keeping("2")];
  expect(one.spec?.volumes).toContainEqual({ name: "data", persistentVolumeClaim: { claimName: "data-v-1" } });
  expect(one.spec?.securityContext).toEqual(other.spec?.securityContext);
  expect(JSON.stringify(one.spec?.affinity)).toContain('"towpath.dev/data":"v-1"');
  expect(one.metadata.labels).toMatchObject({ "towpath.dev/data": "v-1" });
});

test("RUN-7 a runtime class is set if the operator names one, and an inspection's pod ends by itself", () => {
  const pod = serverPod(spec, { id: "worker", lifetimeMs: 90_500 }, { ...settings, runtimeClass: "gvisor" });
  expect(pod.spec).toMatchObject({ runtimeClassName: "gvisor", activeDeadlineSeconds: 91 });
  const other = serverPod({ ...spec, instanceId: "2" }, owner, settings);
  expect(other.spec?.securityContext?.runAsUser).not.toBe(user);
});

const prewarm = {
  organizationId: "01936d3a-0000-7000-8000-0000000000aa",
  dependencies: spec.server.layers.dependencies,
  pythonVersion: spec.server.pythonVersion,
  network: spec.server.network,
  limits: { ...spec.server.limits, cpus: 0.5 },
  startTimeoutMs: 60_000,
} as const;

test("RUN-3 RUN-7 an interpreter's pod names its organization and layer, and fits a server but for its processors", () => {
  const pod = prewarmedPod(prewarm, owner, settings);
  expect(pod.metadata.labels).toEqual({
    "app.kubernetes.io/managed-by": "towpath",
    "towpath.dev/role": "server",
    "towpath.dev/owner": "runner-1",
    "towpath.dev/network": "internet",
    "towpath.dev/organization": prewarm.organizationId,
    "towpath.dev/prewarmed": "a".repeat(40),
  });
  const stored = { ...serverPod(spec, owner, settings) } as Stored<"pods">;
  expect(fitsServer(stored, pod)).toBe(false);
  expect(fitsServer(stored, pod, { anyProcessors: true })).toBe(true);
  const larger = { ...prewarm, limits: { ...prewarm.limits, memoryBytes: 1024 * mebibyte } };
  expect(fitsServer(stored, prewarmedPod(larger, owner, settings), { anyProcessors: true })).toBe(false);
});

test("RUN-3 RUN-7 an interpreter gets nothing of a server, and its claim what an ordinary start would get", () => {
  const start = prewarmStart(prewarm);
  expect(start.argv.slice(1)).toEqual(["-m", "towpath_runner", "--prewarm-status", "/run/towpath/status.json"]);
  expect(start).toMatchObject({ prewarm: true, directory: "/app/src", limits: { processes: 256, sharesUser: true } });
  const usual = serverStart(spec, "s", { sharesUser: true });
  const { TOKEN, ...others } = usual.environment;
  expect([TOKEN, start.environment]).toEqual(["hidden", others]);
  const { claim, ...rest } = claimStart(spec, "s");
  expect(claim).toEqual({ env: usual.environment, arguments: usual.argv.slice(3), secret: "s" });
  expect(usual.argv.slice(1, 3)).toEqual(["-m", "towpath_runner"]);
  const { argv: _, environment: __, ...shared } = usual;
  expect(rest).toEqual(shared);
});
