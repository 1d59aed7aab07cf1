import type { CheckedFetch } from "@towpath/egress";
import { z } from "zod";
import type { Connection } from "../connection.ts";
import { parseEndpoint } from "../endpoint.ts";
import { authorizationOf } from "../probe.ts";
import { unavailable } from "../problems.ts";
import type { LfsFile } from "./lfs-files.ts";

// Git LFS batch API: https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md

export type Download = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

const mediaType = "application/vnd.git-lfs+json";
const maxAnswerBytes = 2 * 1024 * 1024;
const perRequest = 100;
const maxRedirects = 3;

const answerSchema = z.object({
  objects: z.array(
    z.object({
      oid: z.string(),
      actions: z
        .object({
          download: z
            .object({ href: z.string().max(10_000), header: z.record(z.string(), z.string()).default({}) })
            .optional(),
        })
        .optional(),
      error: z.object({ code: z.number() }).optional(),
    }),
  ),
});

/** The download of each file, or why there is none. */
export async function downloadsOf(
  files: readonly LfsFile[],
  connection: Connection,
  checked: CheckedFetch,
  signal: AbortSignal,
): Promise<readonly { readonly file: LfsFile; readonly download: Download | string }[]> {
  const found = new Map<string, Download | string>();
  const distinct = [...new Map(files.map((file) => [file.oid, file])).values()];
  for (let at = 0; at < distinct.length; at += perRequest) {
    const answer = await batch(distinct.slice(at, at + perRequest), connection, checked, signal);
    for (const { oid, actions, error } of answer.objects) {
      const { href, header = {} } = actions?.download ?? {};
      if (href !== undefined)
        found.set(oid, { url: href, headers: withCredential(href, ofRequest(header), connection) });
      else found.set(oid, `Their host does not have them${error === undefined ? "" : ` (${error.code})`}.`);
    }
  }
  return files.map((file) => ({ file, download: found.get(file.oid) ?? "Their host does not have them." }));
}

async function batch(files: readonly LfsFile[], connection: Connection, { fetch }: CheckedFetch, signal: AbortSignal) {
  const { endpoint } = connection;
  const url = `${endpoint.url.replace(/(?:\.git)?$/, ".git")}/info/lfs/objects/batch`;
  const response = await fetch(url, {
    method: "POST",
    headers: { accept: mediaType, "content-type": mediaType, ...withCredential(url, {}, connection) },
    body: JSON.stringify({
      operation: "download",
      transfers: ["basic"],
      hash_algo: "sha256",
      objects: files.map(({ oid, size }) => ({ oid, size })),
    }),
    signal,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw unavailable(`${endpoint.host} answers with status ${response.status} when asked for files of Git LFS.`);
  }
  const parsed = answerSchema.safeParse(await boundedJson(response));
  if (!parsed.success) throw unavailable(`${endpoint.host} does not answer as a host of Git LFS does.`);
  return parsed.data;
}

async function boundedJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) return null;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return null;
  }
}

/** Drops headers of the connection: the host must not set them, and `fetch` refuses them. Gitea sends one. */
const ofRequest = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) =>
        !/^(?:connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|host|content-length)$/i.test(name),
    ),
  );

/** Adds the repository's token for its own origin, unless the host gave another credential. */
function withCredential(url: string, headers: Readonly<Record<string, string>>, { endpoint, credential }: Connection) {
  const isGiven = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  if (isGiven || credential?.kind !== "token" || originOf(url) !== endpoint.origin) return headers;
  return { ...headers, authorization: authorizationOf(credential, endpoint.host) };
}

const originOf = (url: string): string | null => {
  if (!URL.canParse(url)) return null;
  const { protocol, host, pathname } = new URL(url);
  return /^https?:$/.test(protocol) ? parseEndpoint(`${protocol}//${host}${pathname}x`).origin : null;
};

/** Downloads, following redirects; headers go to the first origin only. */
export async function followRedirects(
  download: Download,
  { fetch }: CheckedFetch,
  signal: AbortSignal,
): Promise<Response> {
  let url = new URL(download.url);
  const { origin, protocol } = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const headers = url.origin === origin ? download.headers : {};
    const response = await fetch(url, { headers, redirect: "manual", signal });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    url = new URL(location, url);
    if (protocol === "https:" && url.protocol !== "https:") break;
  }
  throw unavailable("Their host redirects too often, or to an address without TLS.");
}
