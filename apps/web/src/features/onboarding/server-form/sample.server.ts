import type { Context } from "@towpath/core/context";
import { deployFiles } from "@towpath/core/sources/repository";
import type { SampleFile } from "@towpath/github";
import { strToU8, zipSync } from "fflate";

const directory = "/python/samples/echo/";

// Bundled at build time, so that the running server needs no checkout.
const files = import.meta.glob<string>("../../../../../../python/samples/echo/**/*", {
  query: "?raw",
  import: "default",
  eager: true,
  exhaustive: true,
});

/** The files of the sample, with paths from its root (ONB-4, SRC-4). */
export function sampleFiles(): [SampleFile, ...SampleFile[]] {
  const [first, ...more] = Object.entries(files)
    .filter(([path]) => !/__pycache__|\.pyc$/.test(path))
    .map(([path, content]) => ({ path: path.slice(path.indexOf(directory) + directory.length), content }));
  if (!first) throw new Error("The build has no sample repository.");
  return [first, ...more];
}

export const sampleEntrypoint = "echo.py";

/**
 * Deploys the sample from a repository of this instance, without an account or connection at a Git host (SRC-4).
 *
 * @throws TowpathError as `deployFiles`
 */
export async function deploySampleServer(
  ctx: Context<"instanceRepositories" | "secrets">,
  { orgSlug, serverName }: { readonly orgSlug: string; readonly serverName: string },
): Promise<{ readonly projectName: string; readonly buildId: string }> {
  const zip = zipSync(Object.fromEntries(sampleFiles().map(({ path, content }) => [path, strToU8(content)])));
  const { project, build } = await deployFiles({
    ctx,
    input: {
      orgSlug,
      name: serverName,
      entrypoint: sampleEntrypoint,
      trigger: "quickstart",
      message: "Start from Towpath's echo sample",
      archive: new Blob([zip]).stream(),
    },
  });
  return { projectName: project.pathName, buildId: build.id };
}
