import { chown, link, lstat, stat, unlink } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { dirname } from "node:path";
import { secretHeader } from "@towpath/runner-api/endpoint";
import { maxStatusBytes, parseReady, type Ready } from "./harness-status.ts";

/** Where a server of this host listens. */
export type ServerSocket = { readonly path: string; readonly secret: string };

/** Where the harness reports how its start went (python/towpath_runner, access.py). */
const statusPath = "/-/towpath/status";

/** A server that takes a connection and doesn't answer within this time is asked again over another one. */
const statusMs = 5000;

/**
 * Hard-links a server's socket to a directory of the platform, once the server answers there that it is ready; null
 * before. The server could later replace its socket by a link to a socket of the platform, to which callers would then
 * connect; the hard link stays the same.
 */
export async function takeSocket(made: string, taken: ServerSocket, done: AbortSignal): Promise<Ready | null> {
  try {
    await link(made, taken.path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return null;
  }
  try {
    const signal = AbortSignal.any([done, AbortSignal.timeout(statusMs)]);
    const ready = (await lstat(taken.path)).isSocket() ? await askStatus(taken, signal) : null;
    if (ready !== null) {
      if (process.getuid?.() === 0) await shareWithGroup(taken.path);
      return ready;
    }
    await unlink(taken.path);
  } catch {
    // Gone with the instance.
  }
  return null;
}

/** Lets the group of its directory connect: a gateway that runs as another user, as in a container, is in it. */
async function shareWithGroup(path: string): Promise<void> {
  const { gid } = await stat(dirname(path));
  await chown(path, -1, gid);
}

async function askStatus(socket: ServerSocket, signal: AbortSignal): Promise<Ready | null> {
  const response = await ask(socket, { method: "GET", path: statusPath }, signal);
  if (response === null) return null;
  let text = "";
  try {
    // A tenant's server answers.
    for await (const chunk of response.setEncoding("utf8")) {
      text += chunk;
      if (text.length > maxStatusBytes) break;
    }
  } catch {
    return null;
  }
  return response.statusCode === 200 ? parseReady(text) : null;
}

/** Whether a server responds to a request, with any answer. */
export async function answersRequest(socket: ServerSocket, signal: AbortSignal): Promise<boolean> {
  const response = await ask(socket, { method: "OPTIONS", path: "/mcp" }, signal);
  response?.destroy();
  return response !== null;
}

function ask(
  { path: socketPath, secret }: ServerSocket,
  what: { readonly method: string; readonly path: string },
  signal: AbortSignal,
): Promise<IncomingMessage | null> {
  return new Promise((resolve) => {
    const headers = { host: "localhost", [secretHeader]: secret };
    const asked = request({ ...what, socketPath, headers, signal, agent: false }, resolve);
    asked.once("error", () => resolve(null));
    asked.end();
  });
}
