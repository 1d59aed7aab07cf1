import { currentRelease, type Release } from "@towpath/db/release";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";

type Call = { readonly ctx: Context; readonly input: { readonly orgSlug: string } };

/** The release that this instance runs, for members of an organization (OPS-3). */
export async function getRelease({ ctx, input }: Call): Promise<Release> {
  await authorize(ctx, "organization.read", { orgSlug: input.orgSlug });
  return currentRelease();
}
