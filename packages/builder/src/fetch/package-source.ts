import { tarball } from "./tarball.ts";

/** A version of a package on the index. Name and version are valid for PEP 508 and PEP 440. */
export type IndexPackage = {
  readonly name: string;
  readonly version: string;
  /** Required Python according to the index; null if it doesn't say. */
  readonly requiresPython: string | null;
  /** Null when the index doesn't say. */
  readonly uploadedAt: Date | null;
};

/**
 * The source of a build that runs a package (BLD-17): a project without code whose only dependency is that version. The
 * plan then finds the package's console script, as it does for such a repository.
 *
 * @returns a gzipped tarball, like that of a commit
 */
export function packageSource({
  name,
  version,
  requiresPython,
  uploadedAt,
}: IndexPackage): Promise<ReadableStream<Uint8Array>> {
  // JSON's strings are valid TOML strings.
  const lines = [
    "[project]",
    `name = ${JSON.stringify(`run-${name}`)}`,
    `version = "0"`,
    ...(requiresPython === null ? [] : [`requires-python = ${JSON.stringify(requiresPython)}`]),
    `dependencies = [${JSON.stringify(`${name}==${version}`)}]`,
    "",
  ];
  // The time is that of the source, as in the archive of a commit.
  const mtime = uploadedAt ?? new Date();
  return tarball([{ name: "package/pyproject.toml", text: lines.join("\n"), mtime }]);
}
