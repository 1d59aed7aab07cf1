import { readFile, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { CommandError, UsageError } from "../terminal/terminal.ts";
import { connect, findDataDirectory } from "./instance.ts";

/** An instance and its credential: an API key, or for a local instance the operator's token. */
export type Target = { readonly url: string; readonly token: string; readonly isLocal: boolean };

const loginSchema = z.object({ url: z.url(), key: z.string().min(1) });
export type Login = z.infer<typeof loginSchema>;

/** Holds a key: mode 0600. */
export function loginFile(): string {
  const base = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(base, "towpath", "login.json");
}

/** Null without a login. @throws CommandError for a damaged file */
export async function readLogin(): Promise<Login | null> {
  const text = await readFile(loginFile(), "utf8").catch(() => null);
  if (text === null) return null;
  const parsed = loginSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new CommandError(`${loginFile()} is damaged. Log in again: towpath login URL`);
}

export const removeLogin = (): Promise<void> => rm(loginFile(), { force: true });

/**
 * The instance to work with: of `--data-dir`; of TOWPATH_URL and TOWPATH_API_KEY, as in CI; of the stored login; else
 * the local one.
 *
 * @throws CommandError when there is none
 */
export async function targetOf(dataDirectory: string | undefined): Promise<Target> {
  if (dataDirectory === undefined) {
    const stored = await readLogin();
    const url = process.env.TOWPATH_URL || stored?.url;
    const key = process.env.TOWPATH_API_KEY;
    // An instance's own settings have TOWPATH_URL, too: without a key it names nothing here.
    if (key && url) return { url: originOf(url), token: key, isLocal: false };
    if (stored) return { url: stored.url, token: stored.key, isLocal: false };
  }
  try {
    return { ...connect(findDataDirectory(dataDirectory)), isLocal: true };
  } catch (error) {
    if (dataDirectory !== undefined || !(error instanceof CommandError)) throw error;
    const { TOWPATH_URL: url, TOWPATH_API_KEY: key } = process.env;
    // As in CI without its secret.
    const half = key
      ? "TOWPATH_API_KEY is set, but TOWPATH_URL isn't."
      : "TOWPATH_URL is set, but TOWPATH_API_KEY isn't.";
    throw new CommandError(
      `${error.message}\nFor an instance elsewhere: towpath login URL${url || key ? `, or both variables. ${half}` : ""}`,
    );
  }
}

/** @throws CommandError for anything but an address of HTTP; a key must not cross a network in the clear */
export function originOf(address: string): string {
  const withScheme = /^https?:\/\//.test(address) ? address : `https://${address}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : null;
  if (url === null || (withScheme !== address && address.includes("://")))
    throw new UsageError(`${address} is not the address of an instance.`);
  if (url.username !== "") throw new UsageError("The address must not contain a name or password.");
  // 127.example.com is a host name, which can resolve to any address.
  const isLoopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !isLoopback) {
    throw new UsageError(
      `${address} has no TLS, so that others could read the key. Use https://, or the instance's address on this ` +
        "machine, such as that of an SSH tunnel: ssh -N -L 3000:localhost:3000 HOST, then http://localhost:3000.",
    );
  }
  return url.origin;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
