import { explain, rcompare, valid } from "@renovatebot/pep440";
import { TowpathError } from "@towpath/core/errors";
import type { PackageIndex, PackageReleases, Release } from "@towpath/core/ports";
import { z } from "zod";
import type { IndexAddress } from "./indexes.ts";
import { createJsonReader } from "./read-json.ts";

/** PEP 691 with the fields of PEP 700 that are used. */
const pageSchema = z.object({
  name: z.string(),
  files: z.array(
    z.object({
      filename: z.string(),
      "requires-python": z.string().nullish(),
      yanked: z.union([z.boolean(), z.string()]).default(false),
      "upload-time": z.iso.datetime({ offset: true }).nullish().catch(null),
    }),
  ),
});

/** Projects with a thousand releases of a hundred wheels each take about as much. */
const maxBytes = 64 * 1024 * 1024;

/** Asks indexes in order; the first that knows a package counts, as for uv. */
export function createPackageIndex(indexes: readonly IndexAddress[]): PackageIndex {
  const read = createJsonReader();
  return {
    async releases(name, signal) {
      for (const { url: index, authorization } of indexes) {
        const url = new URL(`${encodeURIComponent(name)}/`, index);
        const request = { url, from: "The package index", accept: "application/vnd.pypi.simple.v1+json", maxBytes };
        const otherwise = "can't list versions as JSON (PEP 691)";
        const parse = (body: unknown) => releasesOf(pageSchema.parse(body));
        const found = await read({ ...request, otherwise, authorization, signal }, parse);
        if (found !== null) return found;
      }
      const hosts = indexes.map(({ url }) => url.host).join(", ");
      throw new TowpathError("not_found", `There is no package ${name} on ${hosts}. Check its name.`);
    },
  };
}

function releasesOf({ name, files }: z.output<typeof pageSchema>): PackageReleases {
  const found = new Map<string, Release>();
  for (const file of files) {
    const version = versionOf(file.filename);
    if (version === null || file.yanked !== false) continue;
    const known = found.get(version);
    const uploadedAt = earlier(known?.uploadedAt ?? null, file["upload-time"] ?? null);
    const { is_prerelease: isPrerelease = false } = explain(version) ?? {};
    found.set(version, {
      version,
      isPrerelease,
      requiresPython: file["requires-python"] ?? null,
      ...known,
      uploadedAt,
    });
  }
  return { name, releases: [...found.values()].sort((a, b) => rcompare(a.version, b.version)) };
}

function earlier(known: Date | null, text: string | null): Date | null {
  const time = text === null ? null : new Date(text);
  return known === null || (time !== null && time < known) ? time : known;
}

/** The version in the name of a wheel or source distribution; null for other files, and for versions before PEP 440. */
function versionOf(filename: string): string | null {
  const [, version = ""] =
    /^[^-]+-([^-]+)-.+\.whl$/.exec(filename) ?? /^.+-([^-]+)\.(?:tar\.gz|zip)$/.exec(filename) ?? [];
  return valid(version) ? version : null;
}
