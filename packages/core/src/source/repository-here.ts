import type { Context } from "../context/index.ts";
import { refused } from "./read-refs.ts";

/**
 * Name of the repository of this instance whose clone URL this is (SRC-3), which needs no request to ourselves; null for a
 * repository elsewhere. Whether there is such a repository isn't looked up.
 *
 * @param field of the input that has the URL
 * @throws TowpathError `invalid_input` for one of another organization
 */
export function repositoryHere(
  ctx: Pick<Context, "dashboardUrl">,
  orgSlug: string,
  { gitUrl, field }: { readonly gitUrl: string; readonly field: string },
): string | null {
  if (ctx.dashboardUrl === undefined) return null;
  const url = new URL(gitUrl);
  if (url.origin !== new URL(ctx.dashboardUrl).origin) return null;
  const [root, organization, file, ...more] = url.pathname.split("/").filter((part) => part !== "");
  if (root !== "git" || organization === undefined || file === undefined || more.length > 0) return null;
  if (organization === orgSlug) return file.replace(/\.git$/, "");
  throw refused(
    field,
    "This is a repository of another organization of this instance. Only servers of that organization can be built from it.",
  );
}
