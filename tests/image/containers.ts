import { type ExecFileException, execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "../instance/towpath-process.ts";

const here = import.meta.dirname;
/** Made once on a machine. */
const base = "localhost/towpath-test-base";
export const image = "localhost/towpath-test";
const postgresImage = "localhost/towpath-test-postgres";
/** Not localhost: an instance may run there. */
const address = "127.0.0.9";

type Ended = { readonly status: number; readonly stdout: string; readonly stderr: string };

function run(env: NodeJS.ProcessEnv, command: string, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const options = { cwd: repositoryRoot, maxBuffer: 64 * 1024 ** 2, env: { ...process.env, ...env } };
    execFile(command, args, options, (error: ExecFileException | null, stdout, stderr) => {
      if (error !== null && typeof error.code !== "number") reject(error);
      else resolve({ status: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

async function must(env: NodeJS.ProcessEnv, command: string, ...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await run(env, command, ...args);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** Builds the images. A machine without CAP_SYS_RESOURCE, or with both versions of control groups, builds by chroot. */
export async function buildImages(commit: string): Promise<void> {
  const env = { BUILDAH_ISOLATION: "chroot" };
  if ((await run(env, "buildah", "inspect", "--type", "image", base)).status !== 0)
    await must(env, join(here, "make-base"), base);
  const build = ["build", "--format=docker", "--layers"];
  const towpath = ["--build-arg", `BASE=${base}`, "--build-arg", `COMMIT=${commit}`, "--file", "deploy/Dockerfile"];
  await must(env, "buildah", ...build, ...towpath, "--tag", image, ".");
  const postgres = ["--build-arg", `IMAGE=${image}`, "--file", join(here, "postgres.Dockerfile")];
  await must(env, "buildah", ...build, ...postgres, "--tag", postgresImage, here);
}

export type Containers = {
  readonly url: string;
  readonly serversUrl: string;
  readonly operatorToken: string;
  /** On the host, what the runner mounts for servers. */
  readonly sockets: string;
  podman(...args: readonly string[]): Promise<Ended>;
  /** The compose file's project, by podman-compose. @throws Error with its output */
  compose(...args: readonly string[]): Promise<string>;
  /** Runs a program in the container of a service. */
  inside(service: string, ...command: readonly string[]): Promise<Ended>;
  inspect(service: string): Promise<Inspected>;
  /** Waits until the health check of a service succeeds. */
  healthy(service: string): Promise<void>;
  /** Removes everything, volumes too. */
  end(): Promise<void>;
};

type Inspected = {
  readonly State: { readonly Pid: number; readonly ExitCode: number };
  readonly Config: { readonly User: string };
  readonly HostConfig: { readonly ReadonlyRootfs: boolean; readonly CapDrop: readonly string[] };
};

const project = `towpath-test-${process.pid}`;
const healthyMs = 120_000;

/** Prepares deploy/compose.yaml for this machine; starts nothing. */
export async function openContainers(): Promise<Containers> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-image-"));
  // Below a short path, and shared, as the directories of a machine with systemd are.
  const sockets = `/run/${project}`;
  await mkdir(sockets, { recursive: true });
  await must({}, "mount", "--bind", sockets, sockets);
  await must({}, "mount", "--make-shared", sockets);
  const operatorToken = randomBytes(32).toString("base64url");
  const [url, serversUrl] = [`http://${address}:3000`, `http://${address}:8080`];
  await writeFile(
    join(directory, "env"),
    `TOWPATH_SECRET=${randomBytes(32).toString("base64url")}\nTOWPATH_OPERATOR_TOKEN=${operatorToken}\n` +
      `TOWPATH_URL=${url}\nTOWPATH_SERVER_URL=${serversUrl}/{name}\n` +
      "TOWPATH_BACKUP_PASSPHRASE=correct horse battery\n",
  );
  const runtime = JSON.stringify(join(here, "oci-runtime"));
  // A machine that has images already would get the former backend, whose networks resolve no names.
  await writeFile(
    join(directory, "containers.conf"),
    '[network]\nnetwork_backend = "netavark"\n[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "towpath-test"\n' +
      `[engine.runtimes]\ntowpath-test = [${runtime}]\n`,
  );
  const env = {
    CONTAINERS_CONF: join(directory, "containers.conf"),
    POSTGRES_PASSWORD: "only-for-tests",
    POSTGRES_IMAGE: postgresImage,
    TOWPATH_IMAGE: image,
    TOWPATH_BIND: address,
    TOWPATH_ENV_FILE: join(directory, "env"),
    TOWPATH_SOCKETS: sockets,
  };
  const podman = (...args: readonly string[]) => run(env, "podman", ...args);
  const nameOf = (service: string) => `${project}_${service}_1`;
  const compose = (...args: readonly string[]) =>
    must(
      env,
      "uv",
      "tool",
      "run",
      "--quiet",
      "podman-compose@1.6.0",
      "-p",
      project,
      "-f",
      "deploy/compose.yaml",
      ...args,
    );
  const healthy = async (service: string) => {
    for (const until = performance.now() + healthyMs; performance.now() < until; ) {
      if ((await podman("healthcheck", "run", nameOf(service))).status === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    const { stdout, stderr } = await podman("logs", "--tail=50", nameOf(service));
    throw new Error(`${service} isn't healthy after ${healthyMs} ms:\n${stdout}${stderr}`);
  };
  return {
    url,
    serversUrl,
    operatorToken,
    sockets,
    podman,
    compose,
    healthy,
    inside: (service, ...command) => podman("exec", nameOf(service), ...command),
    async inspect(service) {
      const [found] = JSON.parse((await podman("inspect", nameOf(service))).stdout) as Inspected[];
      if (found === undefined) throw new Error(`There is no container of ${service}.`);
      return found;
    },
    async end() {
      await compose("down", "--volumes", "--timeout", "10").catch(() => {});
      await run({}, "umount", "--recursive", "--lazy", sockets);
      await rm(sockets, { recursive: true, force: true });
      await rm(directory, { recursive: true, force: true });
    },
  };
}
