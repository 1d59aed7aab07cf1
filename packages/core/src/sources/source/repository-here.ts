import { organization } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { authorize } from "../../authorize/index.ts";
import type { Call, Context } from "../../context/index.ts";
import { refused } from "./read-refs.ts";

/**
 * Name of the repository of this instance whose clone URL this is (SRC-3), which needs no request to ourselves; null for a
 * repository elsewhere. Whether there is such a repository isn't looked up. The URL may have a former slug.
 *
 * @param field of the input that has the URL
 * @throws TowpathError `invalid_input` for one of another organization
 */
export async function repositoryHere(
  ctx: Context,
  of: { readonly id: string; readonly slug: string },
  { gitUrl, field }: { readonly gitUrl: string; readonly field: string },
): Promise<string | null> {
  const url = new URL(gitUrl);
  if (url.origin !== new URL(ctx.dashboardUrl).origin) return null;
  const [root, slug, file, ...more] = url.pathname.split("/").filter((part) => part !== "");
  if (root !== "git" || slug === undefined || file === undefined || more.length > 0) return null;
  if (slug === of.slug || (await hadSlug(ctx, of.id, slug))) return file.replace(/\.git$/, "");
  throw refused(
    field,
    "This is a repository of another organization of this instance. Only servers of that organization can be built from it.",
  );
}

/** The same for front doors, of an organization by its slug; the field is `gitUrl`. */
export async function findRepositoryHere({
  ctx,
  input,
}: Call<{ readonly orgSlug: string; readonly gitUrl: string }>): Promise<string | null> {
  const { organization: of } = await authorize(ctx, "project.create", { orgSlug: input.orgSlug });
  return repositoryHere(ctx, of, { gitUrl: input.gitUrl, field: "gitUrl" });
}

async function hadSlug(ctx: Context, organizationId: string, slug: string): Promise<boolean> {
  const [found] = await ctx.db
    .select({ formerSlugs: organization.formerSlugs })
    .from(organization)
    .where(eq(organization.id, organizationId));
  return found?.formerSlugs.includes(slug) ?? false;
}
