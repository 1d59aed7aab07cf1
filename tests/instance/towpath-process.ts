import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "@towpath/role/testing";

export const repositoryRoot = fileURLToPath(new URL("../../", import.meta.url));

export type TowpathInstance = {
  readonly url: string;
  /** Servers are at `{serversUrl}/{name}`, unless the environment names another address. */
  readonly serversUrl: string;
  readonly dataDirectory: string;
  readonly process: ChildProcess;
  /** Everything printed so far. */
  readonly output: () => string;
  /** Milliseconds from spawn to the line that says it is ready. */
  readonly readyMs: number;
  /** Sends SIGTERM; resolves to the exit status and the milliseconds until then. */
  stop(): Promise<{ readonly status: number | null; readonly tookMs: number }>;
};

export type Ports = { readonly web: number; readonly gateway: number };

export async function instancePorts(): Promise<Ports> {
  const [web = 0, gateway = 0] = await freePorts(2);
  return { web, gateway };
}

/**
 * Runs `./towpath up` as a user would and waits until it is ready. Servers are reached by path: not every machine
 * resolves names below localhost.
 */
export async function startTowpath(
  dataDirectory: string,
  ports: Ports,
  env: Record<string, string> = {},
  checkout = repositoryRoot,
): Promise<TowpathInstance> {
  const begun = performance.now();
  const serversUrl = `http://localhost:${ports.gateway}`;
  const args = ["up", "--data-dir", dataDirectory, "--port", String(ports.web)];
  args.push("--gateway-port", String(ports.gateway));
  const child = spawn(join(checkout, "towpath"), args, {
    env: {
      ...process.env,
      NO_COLOR: "1",
      TOWPATH_SERVER_URL: `${serversUrl}/{name}`,
      // Not the developer's own: it remembers the last instance.
      XDG_STATE_HOME: dataDirectory,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const ready = Promise.withResolvers<void>();
  const onData = (chunk: Buffer) => {
    text += chunk.toString();
    if (text.includes("Towpath is ready:")) ready.resolve();
  };
  child.stdout.on("data", onData);
  child.stderr.on("data", onData);
  child.once("close", (code) => ready.reject(new Error(`towpath up ended with status ${code}:\n${text}`)));
  await ready.promise;
  return {
    url: `http://localhost:${ports.web}`,
    serversUrl,
    dataDirectory,
    process: child,
    output: () => text,
    readyMs: performance.now() - begun,
    stop: async () => {
      const stopping = performance.now();
      if (child.exitCode === null && child.signalCode === null) {
        const closed = once(child, "close");
        child.kill("SIGTERM");
        await closed;
      }
      return { status: child.exitCode, tookMs: performance.now() - stopping };
    },
  };
}

type Ended = { readonly status: number; readonly stdout: string; readonly stderr: string };

/** Runs a `./towpath` command to its end. */
export const towpath = (...args: string[]): Promise<Ended> => towpathWith({}, ...args);

/** The same with variables and with a text on stdin. */
export async function towpathWith(
  { env = {}, input }: { readonly env?: Readonly<Record<string, string>>; readonly input?: string },
  ...args: string[]
): Promise<Ended> {
  const child = spawn(join(repositoryRoot, "towpath"), args, {
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input);
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [status] = await once(child, "close");
  return { status: Number(status), stdout, stderr };
}
