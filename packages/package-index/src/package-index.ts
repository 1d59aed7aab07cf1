import { getCACertificates } from "node:tls";
import { explain, rcompare, valid } from "@renovatebot/pep440";
import { TowpathError } from "@towpath/core/errors";
import type { PackageIndex, PackageReleases, Release } from "@towpath/core/ports";
import { EnvHttpProxyAgent, fetch } from "undici";
import { z } from "zod";
import type { IndexAddress } from "./indexes.ts";

/** PEP 691 with the fields of PEP 700 that are used. */
const pageSchema = z.object({
  name: z.string(),
  files: z.array(
    z.object({
      filename: z.string(),
      "requires-python": z.string().nullish(),
      yanked: z.union([z.boolean(), z.string()]).default(false),
    }),
  ),
});

const timeoutMs = 15_000;
/** Projects with a thousand releases of a hundred wheels each take about as much. */
const maxBytes = 64 * 1024 * 1024;

/** Asks indexes in order; the first that knows a package counts, as for uv. */
export function createPackageIndex(indexes: readonly IndexAddress[]): PackageIndex {
  // The host's authorities too, as for uv: a company's index may have a certificate of its own.
  const tls = { ca: [...getCACertificates("default"), ...getCACertificates("system")] };
  const dispatcher = new EnvHttpProxyAgent({ connect: tls, requestTls: tls });
  return {
    async releases(name, signal) {
      for (const index of indexes) {
        const found = await ask(index, name, dispatcher, signal);
        if (found !== null) return found;
      }
      const hosts = indexes.map(({ url }) => url.host).join(", ");
      throw new TowpathError("not_found", `There is no package ${name} on ${hosts}. Check its name.`);
    },
  };
}

async function ask(
  { url, authorization }: IndexAddress,
  name: string,
  dispatcher: EnvHttpProxyAgent,
  signal: AbortSignal | undefined,
): Promise<PackageReleases | null> {
  const unreachable = (what: string, cause?: unknown) =>
    new TowpathError("upstream_unavailable", `The package index ${url.host} ${what}. Try again shortly.`, { cause });
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(new URL(`${encodeURIComponent(name)}/`, url), {
      headers: {
        accept: "application/vnd.pypi.simple.v1+json",
        "user-agent": "towpath",
        ...(authorization !== null && { authorization }),
      },
      dispatcher,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
    if (response.status === 404) return null;
    if (!response.ok) throw unreachable(`answered with status ${response.status}`);
    if (!(response.headers.get("content-type") ?? "").includes("json")) {
      throw unreachable("can't list versions as JSON (PEP 691)");
    }
    return releasesOf(pageSchema.parse(JSON.parse(await bounded(response, unreachable))));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof TowpathError) throw error;
    throw unreachable(deadline.aborted ? `did not answer within ${timeoutMs / 1000} s` : "can't be reached", error);
  }
}

type Body = { readonly body: AsyncIterable<Uint8Array> | null };

async function bounded({ body }: Body, unreachable: (what: string) => Error): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw unreachable("answered with too long a list");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function releasesOf({ name, files }: z.output<typeof pageSchema>): PackageReleases {
  const found = new Map<string, Release>();
  for (const file of files) {
    const version = versionOf(file.filename);
    if (version === null || file.yanked !== false || found.has(version)) continue;
    const { is_prerelease: isPrerelease = false } = explain(version) ?? {};
    found.set(version, { version, isPrerelease, requiresPython: file["requires-python"] ?? null });
  }
  return { name, releases: [...found.values()].sort((a, b) => rcompare(a.version, b.version)) };
}

/** The version in the name of a wheel or source distribution; null for other files, and for versions before PEP 440. */
function versionOf(filename: string): string | null {
  const [, version = ""] =
    /^[^-]+-([^-]+)-.+\.whl$/.exec(filename) ?? /^.+-([^-]+)\.(?:tar\.gz|zip)$/.exec(filename) ?? [];
  return valid(version) ? version : null;
}
