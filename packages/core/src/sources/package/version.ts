import { createHash } from "node:crypto";
import { TowpathError } from "../../errors/index.ts";
import type { PackageReleases, Release } from "../../ports/index.ts";
import type { BuildSource } from "../../projects/project/project.schema.ts";

/** The one branch of a project that runs a package. */
export const packageBranch = "releases";

/** How many versions an error names. */
const shownVersions = 5;

/**
 * The version that was requested, by default the newest that is no prerelease.
 *
 * @throws TowpathError `invalid_input` for `version`
 */
export function chooseRelease({ name, releases }: PackageReleases, requested: string | null | undefined): Release {
  const found = requested
    ? releases.find(({ version }) => version === requested.replace(/^v/, ""))
    : (releases.find(({ isPrerelease }) => !isPrerelease) ?? releases[0]);
  if (found) return found;
  const newest = releases.slice(0, shownVersions).map(({ version }) => version);
  const message =
    newest.length === 0
      ? `${name} has no version that can be installed.`
      : `${name} has no version ${requested}. Its newest ones: ${newest.join(", ")}.`;
  throw new TowpathError("invalid_input", message, { fields: { [requested ? "version" : "packageName"]: message } });
}

/**
 * A version as what is built: its id is a digest of name and version in place of a commit's, so that everything which
 * compares commits compares versions.
 */
export function versionCommit(name: string, version: string): BuildSource {
  const sha = createHash("sha1").update(`package ${name} ${version}`).digest("hex");
  return { sha, message: `${name} ${version}`, author: null, packageVersion: version };
}
