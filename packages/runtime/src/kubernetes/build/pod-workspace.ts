import { createHash, randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { BuildSpec, BuildStep, BuildVolume, BuildWorkspace, RunOptions, VolumeEntry } from "../../port/builds.ts";
import { SandboxError, UnreadableOutput } from "../../port/errors.ts";
import type { Exit, ExitReason } from "../../port/execution.ts";
import { stepDirectory, stepEnvironment } from "../../step-environment.ts";
import type { KubernetesApi } from "../api/client.ts";
import type { Stored } from "../api/objects.ts";
import type { PodSettings } from "../config.ts";
import {
  type BuildContainer,
  buildContainers,
  buildPod,
  containerFor,
  portOf,
  stepRunDirectory,
} from "../pod/build-pod.ts";
import type { RemoteLayers } from "../remote-layers.ts";
import { lostStep } from "./build-pod-state.ts";
import { connectService } from "./connect-service.ts";
import { entryFrames } from "./entry-frames.ts";
import type { PodCaches } from "./pod-caches.ts";
import { type PodService, PodUnreachable } from "./pod-service.ts";
import { type PodStep, runInPod } from "./run-in-pod.ts";
import { createPod, runningPod } from "./start-pod.ts";

export type WorkspaceConfig = {
  readonly spec: BuildSpec;
  readonly pod: PodSettings;
  readonly cacheClaim: string | null;
  readonly caches: PodCaches;
  readonly layers: RemoteLayers;
  readonly buildEnvironment: Readonly<Record<string, string>>;
};

/** What an image has; python/towpath_pod/about.py. */
type ImageContent = { readonly pythons: readonly string[]; readonly uv: string; readonly architecture: string };

type Services = Readonly<Record<BuildContainer, PodService>>;

const measureMs = 20_000;
/** How long the kubelet takes to report why a container ended. */
const reportMs = 5_000;

/** One build's pod. It starts while the first input is fetched. */
export class PodWorkspace implements BuildWorkspace {
  readonly #api: KubernetesApi;
  readonly #config: WorkspaceConfig;
  readonly #pod: Stored<"pods">;
  readonly #services: Promise<Services>;
  readonly #closed = new AbortController();
  /** Null until all containers answer. */
  #connected: Services | null = null;
  #certificates: Promise<string> | null = null;

  private constructor(
    api: KubernetesApi,
    config: WorkspaceConfig,
    pod: Stored<"pods">,
    secrets: Readonly<Record<BuildContainer, string>>,
  ) {
    this.#api = api;
    this.#config = config;
    this.#pod = pod;
    this.#services = this.#connect(secrets);
    // Whoever uses the workspace gets the error.
    this.#services.catch(() => {});
  }

  /** @throws SandboxError `setup_failed` */
  static async open(api: KubernetesApi, config: WorkspaceConfig): Promise<PodWorkspace> {
    const { spec, cacheClaim } = config;
    const secrets = perContainer(() => randomBytes(32).toString("base64url"));
    const secretDigests = perContainer((name) => createHash("sha256").update(secrets[name]).digest("hex"));
    const name = `build-${randomUUID()}`;
    const pod = await createPod(api, buildPod({ name, build: spec, cacheClaim, secretDigests }, config.pod));
    return new PodWorkspace(api, config, pod, secrets);
  }

  async write(volume: BuildVolume, entries: Iterable<VolumeEntry> | AsyncIterable<VolumeEntry>): Promise<void> {
    await this.#files().then((files) => files.json({ path: "/write", query: { volume }, body: entryFrames(entries) }));
  }

  async read(volume: BuildVolume, path: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    try {
      const body = await (await this.#files()).stream({ path: "/read", query: { volume, path, maxBytes } });
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return new Uint8Array(Buffer.concat(chunks));
    } catch (error) {
      const isGone = this.#closed.signal.aborted || (error instanceof PodUnreachable && (await this.#isGone()));
      if (isGone) throw new UnreadableOutput(`${path} is gone with the build's pod.`);
      throw error;
    }
  }

  async image(pythonVersion: string): Promise<string> {
    const content = await (await this.#files()).json<ImageContent>({ path: "/about" });
    const minor = pythonVersion.split(".").slice(0, 2).join(".");
    const python = content.pythons.find((version) => version.startsWith(`${minor}.`));
    if (python === undefined)
      throw new SandboxError("python_unavailable", `The image of builds has no Python ${minor}. Rebuild it.`);
    return JSON.stringify(["pod", python, content.uv, content.architecture, this.#config.buildEnvironment]);
  }

  async run(step: BuildStep, options: RunOptions): Promise<Exit> {
    const container = containerFor(step.volumes);
    const services = await this.#open();
    const watching = new AbortController();
    // Only steps that may run code of packages.
    const isWatched = step.volumes.some(({ volume }) => volume === "dependencies" || volume === "cache");
    const never = new Promise<ExitReason>(() => {});
    const exceeded = isWatched ? this.#diskLimit(services.files, watching.signal).catch(() => never) : never;
    try {
      return await runInPod(services[container], await this.#podStep(step), options, exceeded);
    } catch (error) {
      if (!(error instanceof PodUnreachable)) throw error;
      return await this.#whyLost(container, error);
    } finally {
      watching.abort();
    }
  }

  async publish(
    volume: "dependencies" | "code",
    { name, maxBytes }: { readonly name: string; readonly maxBytes: number },
  ): Promise<string> {
    const files = await this.#files();
    const { digest } = await files.json<{ digest: string }>({ path: "/pack", query: { volume, maxBytes } });
    const upload = async (address: object) => {
      const sent = await files.json<{ status: number; text: string }>({
        path: "/send",
        query: { volume },
        body: address,
      });
      if (sent.status === 200) return;
      throw new Error(`The artifact store refused a layer with status ${sent.status}: ${sent.text}`);
    };
    return (await this.#config.layers.receive(digest, { name, upload })).digest;
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    const services = this.#connected;
    const { cacheClaim, caches } = this.#config;
    if (services !== null && cacheClaim !== null)
      await this.#measureCache(services.files, caches, cacheClaim).catch(() => {});
    this.#closed.abort();
    await Promise.all(Object.values(services ?? {}).map((service) => service.close()));
    const { name, uid } = this.#pod.metadata;
    await this.#api.delete("pods", name, { graceSeconds: 1, uid });
  }

  async #measureCache(files: PodService, caches: PodCaches, claim: string): Promise<void> {
    const signal = AbortSignal.timeout(measureMs);
    const { bytes } = await files.json<{ bytes: number }>({ path: "/measure", query: { volume: "cache" }, signal });
    await caches.measured(claim, bytes);
  }

  async #connect(secrets: Readonly<Record<BuildContainer, string>>): Promise<Services> {
    const address = await runningPod(this.#api, this.#pod, this.#closed.signal);
    const connected = buildContainers.map(
      async (name) => [name, await connectService(address, portOf[name], secrets[name], this.#closed.signal)] as const,
    );
    this.#connected = Object.fromEntries(await Promise.all(connected)) as Services;
    return this.#connected;
  }

  async #open(): Promise<Services> {
    if (this.#closed.signal.aborted) throw new SandboxError("invalid_spec", "The build's workspace is closed.");
    return await this.#services;
  }

  #files = async (): Promise<PodService> => (await this.#open()).files;

  async #diskLimit(files: PodService, signal: AbortSignal): Promise<ExitReason> {
    const { diskBytes, freeBytes } = this.#config.spec;
    const query = { maxBytes: diskBytes, freeBytes };
    const { reason } = await files.json<{ reason: ExitReason }>({ path: "/watch", query, signal });
    return reason;
  }

  async #podStep(step: BuildStep): Promise<PodStep> {
    const { buildEnvironment, spec } = this.#config;
    const file = buildEnvironment.SSL_CERT_FILE;
    if (file !== undefined) this.#certificates ??= readFile(file, "utf8");
    const certificates = file === undefined ? null : `${stepRunDirectory}/operator.pem`;
    return {
      argv: step.argv,
      environment: stepEnvironment(buildEnvironment, { home: "/tmp/home", certificates, links: "copy" }),
      directory: stepDirectory(step),
      network: step.network,
      processes: spec.limits.processes,
      fileBytes: spec.limits.fileBytes ?? null,
      volumes: step.volumes,
      certificates: await this.#certificates,
    };
  }

  async #isGone(): Promise<boolean> {
    const { name, uid } = this.#pod.metadata;
    const found = await this.#api.get("pods", name);
    return found === null || found.metadata.uid !== uid || found.metadata.deletionTimestamp !== undefined;
  }

  async #whyLost(container: BuildContainer, cause: PodUnreachable): Promise<Exit> {
    const { name } = this.#pod.metadata;
    const until = performance.now() + reportMs;
    for (;;) {
      const found = lostStep(await this.#api.get("pods", name), container);
      if (found instanceof SandboxError) throw found;
      if (found !== null) return found;
      if (performance.now() > until)
        throw new SandboxError("platform_ended", "The connection to the build's pod broke.", { cause });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

const perContainer = <Value>(make: (name: BuildContainer) => Value) =>
  Object.fromEntries(buildContainers.map((name) => [name, make(name)])) as Record<BuildContainer, Value>;
