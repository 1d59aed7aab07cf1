import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { parse } from "../commands/parse.ts";
import { apiOf } from "../instance/api.ts";
import { writePrivate } from "../instance/instance.ts";
import { loginFile, originOf, readLogin, removeLogin } from "../instance/target.ts";
import { ask, readInput } from "../terminal/input.ts";
import { CommandError, output, print } from "../terminal/terminal.ts";

const callerSchema = z.object({ kind: z.string(), organization: z.object({ slug: z.string(), name: z.string() }) });

/** `towpath login URL`: checks the key, then keeps it. */
export async function login(args: string[]): Promise<number> {
  const { positionals } = parse("login", args);
  const url = originOf(positionals[0] ?? "");
  const key = await keyFor(url);
  if (!/^tp_\w+$/.test(key)) throw new CommandError(`This is not an API key: keys begin with tp_. ${where(url)}`);
  const api = apiOf({ url, token: key, isLocal: false });
  const { kind, organization } = await api.call("GET", "/api/v1/caller", callerSchema);
  await mkdir(dirname(loginFile()), { recursive: true, mode: 0o700 });
  await writePrivate(loginFile(), JSON.stringify({ url, key }));
  output({ url, kind, organization }, () =>
    print(`Logged in to ${url} with ${kind === "personal" ? "your key" : "a key"} of ${organization.name}.`),
  );
  return 0;
}

const where = (url: string) => `Create one that may manage servers: ${url} → Settings → API keys.`;

async function keyFor(url: string): Promise<string> {
  if (process.env.TOWPATH_API_KEY) return process.env.TOWPATH_API_KEY;
  if (!process.stdin.isTTY) return (await readInput()).trim();
  print(where(url));
  return (await ask("API key: ", { hidden: true })).trim();
}

/** `towpath logout` */
export async function logout(args: string[]): Promise<number> {
  parse("logout", args);
  const stored = await readLogin().catch(() => null);
  await removeLogin();
  output({ url: stored?.url ?? null }, () =>
    print(stored ? `Logged out of ${stored.url}. The key stays valid: revoke it there.` : "You were not logged in."),
  );
  return 0;
}
