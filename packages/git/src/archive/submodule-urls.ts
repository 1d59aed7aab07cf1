import { TowpathError } from "@towpath/core/errors";
import type { GitRemote } from "@towpath/core/ports";
import type { Connection } from "../connection.ts";
import { endpointOf, parseEndpoint } from "../endpoint.ts";
import { isFile, type TreeEntry } from "../objects.ts";
import { type GitRun, gitText } from "../run-git.ts";

/** URLs of submodules by their paths, as `.gitmodules` has them. */
export async function readSubmoduleUrls(
  entries: readonly TreeEntry[],
  run: GitRun,
): Promise<ReadonlyMap<string, string>> {
  const file = entries.find((entry) => entry.path === ".gitmodules" && isFile(entry));
  if (file === undefined) return new Map();
  const text = await gitText(["config", "--blob", file.oid, "--list", "-z"], run).catch(() => "");
  const values = new Map<string, string>();
  for (const record of text.split("\0")) {
    const end = record.indexOf("\n");
    if (end > 0) values.set(record.slice(0, end), record.slice(end + 1));
  }
  const urls = new Map<string, string>();
  for (const [key, path] of values) {
    if (!key.startsWith("submodule.") || !key.endsWith(".path")) continue;
    const url = values.get(`${key.slice(0, -".path".length)}.url`);
    if (url !== undefined) urls.set(path.endsWith("/") ? path.slice(0, -1) : path, url);
  }
  return urls;
}

const scp = /^(?:([\w.-]+)@)?([\w.-]+):(?!\/\/)\/?(.+)$/;

/**
 * The address of a submodule, checked like every source's. The parent's credential is sent to the parent's origin only.
 *
 * @throws TowpathError that says why it can't be fetched
 */
export function remoteOfSubmodule(given: string | null, { endpoint, credential }: Connection): GitRemote {
  if (given === null) throw new TowpathError("not_found", "Its URL is not in .gitmodules.");
  const url = absolute(given, endpoint.url);
  const { protocol } = parseEndpoint(url);
  const withOwn = { url, credential };
  if (endpoint.protocol === "ssh" && endpointOf(withOwn).origin === endpoint.origin) return withOwn;
  // Without a key, use https, which most hosts serve at the same path.
  const readable = protocol === "ssh" ? `https://${new URL(url).hostname}${new URL(url).pathname}` : url;
  return { url: readable, credential: parseEndpoint(readable).origin === endpoint.origin ? credential : null };
}

function absolute(given: string, parent: string): string {
  if (/^\.\.?\//.test(given)) {
    const url = URL.canParse(given, `${parent}/`) ? new URL(given, `${parent}/`) : null;
    if (url) return url.href;
  }
  if (/^(?:https?|ssh):\/\//.test(given)) return given;
  const [, user = "git", host, path] = scp.exec(given) ?? [];
  if (host !== undefined) return `ssh://${user}@${host}/${path}`;
  throw new TowpathError(
    "invalid_input",
    "Its URL in .gitmodules is neither https nor relative, so it can't be fetched.",
  );
}
