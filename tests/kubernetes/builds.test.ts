import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { artifactsConfigSchema, openArtifacts } from "@towpath/artifacts";
import { openTestDatabase } from "@towpath/db/testing";
import { type BuildStep, type BuildWorkspace, buildImage, type RuntimeDriver } from "@towpath/runtime";
import { type ClusterSettings, openClusterDriver } from "@towpath/runtime/testing/cluster";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type S3Service, startVersitygw } from "../s3/versitygw.ts";
import { clusterOf, nodeAddress } from "./cluster.ts";
import { importServersImage } from "./servers-image.ts";
import { offerVolumes, removeVolumes } from "./test-volumes.ts";

const cluster = clusterOf(inject("clusterDirectory"));
const namespace = `builds-${process.pid}`;
const database = openTestDatabase();
let directory: string;
let service: S3Service;
let open: (change?: Partial<ClusterSettings["pods"]>) => RuntimeDriver;
let driver: RuntimeDriver;
let pythonVersion: string;

beforeAll(async () => {
  directory = await mkdtemp(join(inject("clusterDirectory"), "builds-"));
  await chmod(directory, 0o755);
  const image = await importServersImage(cluster, directory);
  service = await startVersitygw(join(directory, "buckets"), nodeAddress);
  await service.newBucket("layers");
  await cluster.createNamespace(namespace);
  // The API server refuses pods that ask for more.
  await cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
  await offerVolumes(cluster, directory, namespace, 4);
  const config = artifactsConfigSchema.parse({ ...service.settings, TOWPATH_ARTIFACTS: "s3://layers/of" });
  const { remote } = openArtifacts({ db: database.db, dataDirectory: directory, config }).layers;
  open = (change = {}) => {
    const settings: ClusterSettings = {
      api: { kind: "kubeconfig", path: cluster.kubeconfig },
      namespace,
      pods: { image, imagePullPolicy: "Never", pullSecrets: [], runtimeClass: null, storageClass: null, ...change },
      leaderService: null,
      waitingKey: null,
      prewarmedPods: 0,
      network: { targets: [], isRequired: false },
      cache: { storageClass: namespace, accessMode: "ReadWriteOnce", bytes: 2 ** 29 },
      dataBytes: 0,
      dataDirectory: directory,
      runDirectory: directory,
      buildEnvironment: { UV_OFFLINE: "1" },
    };
    return openClusterDriver(settings, remote, { kind: "builds" });
  };
  driver = open();
  pythonVersion = (await driver.host.pythons.find("3.11")) ?? "";
}, 900_000);
afterAll(async () => {
  await driver?.close();
  await service?.stop();
  await cluster.kubectl("delete", "namespace", namespace, "--wait=false");
  await removeVolumes(cluster, namespace);
  await rm(directory, { recursive: true, force: true });
});

const mebibyte = 1024 ** 2;
const limits = { memoryBytes: 256 * mebibyte, processes: 64, cpus: 1, tmpBytes: 64 * mebibyte };
const specOf = (organizationId = "org-1") => ({
  buildId: randomUUID(),
  organizationId,
  limits,
  diskBytes: 1024 * mebibyte,
  freeBytes: 0,
});
const stepOf = (code: string, change: Partial<BuildStep> = {}): BuildStep => ({
  argv: [buildImage.python(pythonVersion), "-c", `import os, socket, sys\n${code}`],
  pythonVersion,
  volumes: [],
  network: "none",
  ...change,
});

async function run(workspace: BuildWorkspace, step: BuildStep) {
  const lines: string[] = [];
  const onOutput = (_: string, line: string) => lines.push(line);
  const exit = await workspace.run(step, { timeoutMs: 60_000, outputBytes: 100_000, onOutput });
  return { exit, lines };
}

async function within<Result>(use: (workspace: BuildWorkspace) => Promise<Result>): Promise<Result> {
  const workspace = await driver.builds.open(specOf());
  try {
    return await use(workspace);
  } finally {
    await workspace.close();
  }
}

test("RUN-1 a step is nobody, has no credential and reaches no service of its pod", async () => {
  const code = `print(os.getuid() >= 1_000_000, os.path.exists("/var/run/secrets"), os.path.exists("/packed"))
print([name for name in os.environ if "KUBERNETES" in name or "SECRET" in name or "AWS" in name])
import urllib.request, urllib.error
for port in (7071, 7072, 7073):
    try: urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/about", method="POST"), timeout=10)
    except urllib.error.HTTPError as error: print(error.code)
for path in ("/volumes/code", "/volumes/dependencies", "/packed"): print(os.path.exists(path))
for path in ("/usr/x", "/volumes/source/x", "/opt/towpath/x"):
    try: open(path, "w")
    except OSError as error: print(error.strerror)`;
  const { lines } = await within((workspace) => run(workspace, stepOf(code, { network: "internet" })));
  expect(lines).toEqual([
    ...["True False False", "[]", "401", "401", "401", "False", "False", "False"],
    ...Array(3).fill("Read-only file system"),
  ]);
});

test("RUN-1 a step without a network can't have one through the program that started it", async () => {
  const code = `for family in (socket.AF_INET, socket.AF_INET6):
    try: socket.socket(family); print("open")
    except OSError as error: print(error.strerror)
for path in ("/proc/1/mem", "/proc/1/fd", "/proc/1/environ"):
    try: os.listdir(path) if path.endswith("fd") else open(path, "rb"); print("open")
    except OSError as error: print(error.strerror)`;
  const { lines } = await within((workspace) => run(workspace, stepOf(code)));
  expect(lines).toEqual([
    ...Array(2).fill("Address family not supported by protocol"),
    ...Array(3).fill("Permission denied"),
  ]);
});

test("RUN-1 a step that uses too much memory ends for that reason", async () => {
  const code = "held = [b'x' * (16 << 20) for _ in range(64)]";
  const { exit } = await within((workspace) => run(workspace, stepOf(code)));
  expect(exit).toMatchObject({ reason: "out-of-memory", code: null });
});

test("BLD-13 both layers are made at the same time, and a step leaves nothing that runs", async () => {
  await within(async (workspace) => {
    const wait = "import time; print(time.time()); time.sleep(2); print(time.time())";
    const step = (volume: "dependencies" | "code", path: string) =>
      run(workspace, stepOf(wait, { volumes: [{ volume, path, access: "write" }] }));
    const made = await Promise.all([step("dependencies", buildImage.dependencies), step("code", buildImage.work)]);
    const [one, other] = made.map(({ lines }) => lines.map(Number));
    expect([Number(one?.[0]) < Number(other?.[1]), Number(other?.[0]) < Number(one?.[1])]).toEqual([true, true]);
    const leave = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)";
    expect((await run(workspace, stepOf(leave))).exit.code).toBe(0);
    const list =
      "print([name for name in os.listdir('/proc') if name.isdigit() and int(name) not in (1, os.getpid())])";
    expect((await run(workspace, stepOf(list))).lines).toEqual(["[]"]);
  });
});

test("RUN-8 a step whose pod is deleted ends with the platform's error", async () => {
  const workspace = await driver.builds.open(specOf());
  await workspace.write("work", []);
  const running = run(workspace, stepOf("import time; time.sleep(60)")).catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await cluster.kubectl("-n", namespace, "delete", "pods", "-l=towpath.dev/role=build", "--grace-period=1");
  expect(await running).toMatchObject({ code: "platform_ended", message: "The build's pod ended: it was deleted." });
  await workspace.close();
});

test("BLD-2 an image that isn't there and a used-up quota are named", async () => {
  const wrong = open({ image: "towpath.test/absent:1" });
  const workspace = await wrong.builds.open(specOf());
  await expect(workspace.image(pythonVersion)).rejects.toMatchObject({
    code: "setup_failed",
    message: expect.stringMatching(
      /^The build's pod can't be started\. The image of \w+ can't be had \(ErrImageNeverPull\)/,
    ),
  });
  await workspace.close();
  await wrong.close();
  const hard = { pods: "0" };
  await cluster.create(namespace, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "none" },
    spec: { hard },
  });
  await expect
    .poll(() => driver.builds.open(specOf()).then((opened) => opened.close(), String), { timeout: 20_000 })
    .toMatch(/^SandboxError: The cluster's quota for builds is used up: .*exceeded quota: none/);
  await cluster.kubectl("-n", namespace, "delete", "resourcequota", "none");
});

test("RUN-1 the size of an organization's cache is known once a build has used it", async () => {
  const cache = { volume: "cache", path: buildImage.cache, access: "write" } as const;
  const workspace = await driver.builds.open(specOf("org-3"));
  const code = "open(sys.argv[1], 'wb').write(b'x' * 2_000_000)";
  const step = stepOf(code, { volumes: [cache] });
  const { exit } = await run(workspace, { ...step, argv: [...step.argv, `${buildImage.cache}/file`] });
  expect(exit.code).toBe(0);
  await workspace.close();
  expect((await driver.builds.caches.sizes()).get("org-3")).toBeGreaterThanOrEqual(2_000_000);
});
