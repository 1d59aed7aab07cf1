import { lookup } from "node:dns/promises";
import { accessSync, constants } from "node:fs";
import { BoundSocket } from "node:net";
import { delimiter, join } from "node:path";
import { neededOpenFiles, openFilesProblem } from "@towpath/role";
import { createRunnerClient } from "@towpath/runner-api";
import { CommandError } from "../terminal/terminal.ts";
import type { UpOptions } from "./options.ts";

/** Absolute path of a program on the PATH, or null. */
export function findProgram(name: string, searched = process.env.PATH): string | null {
  for (const directory of (searched ?? "").split(delimiter)) {
    const path = join(directory, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this directory.
    }
  }
  return null;
}

/** A socket of a port, or why there is none. `host`: null for all addresses. */
export async function tryToBind(host: string | null, port: number): Promise<BoundSocket | NodeJS.ErrnoException> {
  try {
    return new BoundSocket({ port, ...(host !== null && { host: (await lookup(host)).address }) });
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

/** Browsers, and Node's fetch by the same rule, don't connect to some ports (Fetch Standard, 2.9: bad ports). */
async function isReachable(port: number): Promise<boolean> {
  const failed = await fetch(`http://127.0.0.1:${port}`, { method: "HEAD" }).catch((error: unknown) => error);
  return !(failed instanceof TypeError && failed.cause instanceof Error && failed.cause.message === "bad port");
}

/** Sockets of the ports, which the processes of a role share. */
export type Sockets = { readonly web: BoundSocket; readonly gateway: BoundSocket };

type ListeningPort = { readonly option: string; readonly host: string; readonly port: number };

const webPort = ({ host, port }: UpOptions): ListeningPort => ({ option: "--port", host, port });
const gatewayPort = ({ gatewayHost: host, gatewayPort: port }: UpOptions): ListeningPort => ({
  option: "--gateway-port",
  host,
  port,
});

export const portsOf = (options: UpOptions): readonly ListeningPort[] => [webPort(options), gatewayPort(options)];

/**
 * Binds the ports. This process holds the sockets for as long as the instance runs, and accepts nothing: connections
 * wait in the kernel while no process of the role does (docs/decisions/061-the-launcher-holds-the-sockets.md).
 *
 * @throws CommandError that names the port and the option that changes it
 */
export async function bindPorts(options: UpOptions): Promise<Sockets> {
  const web = await bindPort(webPort(options));
  try {
    return { web, gateway: await bindPort(gatewayPort(options)) };
  } catch (error) {
    web.close();
    throw error;
  }
}

async function bindPort({ option, host, port }: ListeningPort): Promise<BoundSocket> {
  const another = `./towpath up ${option} ${port > 60_000 ? port - 100 : port + 100}`;
  const socket = await tryToBind(host, port);
  if (socket instanceof Error)
    throw new CommandError(
      socket.code === "EADDRINUSE"
        ? `Port ${port} is in use. Stop what uses it, or choose another: ${another}`
        : `Nothing can listen on ${host}, port ${port}: ${socket.message}`,
    );
  if (await isReachable(port)) return socket;
  socket.close();
  throw new CommandError(`Browsers refuse to connect to port ${port}. Choose another: ${another}`);
}

/** @throws CommandError that names the port and the option that changes it */
export async function requireUsablePort(port: ListeningPort): Promise<void> {
  (await bindPort(port)).close();
}

/** Processes of the instance inherit the limit. @throws CommandError with the number that is needed */
export function requireOpenFiles(): void {
  const problem = openFilesProblem(neededOpenFiles.sandboxes);
  if (problem !== null) throw new CommandError(problem);
}

/** @throws CommandError with the command that installs the missing program. */
export function requirePrograms(): { readonly uv: string } {
  if (!findProgram("bwrap") && process.env.TOWPATH_ALLOW_UNSANDBOXED !== "yes") {
    throw new CommandError(
      "bubblewrap is missing, and without it servers would run unprotected. Install it: apt-get install bubblewrap",
    );
  }
  if (process.env.TOWPATH_ISOLATION === "gvisor" && !findProgram("runsc")) {
    throw new CommandError(
      "TOWPATH_ISOLATION=gvisor needs runsc. Install it: apt-get install runsc, or unset TOWPATH_ISOLATION to isolate by bubblewrap",
    );
  }
  if (!findProgram("git")) throw new CommandError("git is missing. Install it: apt-get install git");
  const uv = findProgram("uv");
  if (!uv) throw new CommandError("uv is missing. Start through ./towpath, which installs it, or run: pip install uv");
  return { uv };
}

const runnerTimeoutMs = 5_000;

/**
 * Problems of this machine's isolation with their remedies, and exceptions set by the operator, so that they are known
 * at the start and not from a failed build. One line if the runner doesn't answer.
 */
export async function isolationNotice(runnerSocket: string): Promise<readonly string[]> {
  const runner = createRunnerClient({ kind: "unix", path: runnerSocket }, { timeoutMs: runnerTimeoutMs });
  try {
    const { problems, exceptions } = await runner.isolation();
    return [...problems, ...exceptions.map(({ setting, meaning }) => `${setting}: ${meaning}`)];
  } catch {
    return ["The runner did not report how servers are isolated here. Look in its log."];
  } finally {
    await runner.close();
  }
}
