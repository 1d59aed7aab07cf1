import type { z } from "zod";
import { audit } from "../../audit/index.ts";
import { authorize } from "../../authorize/index.ts";
import type { Context } from "../../context/index.ts";
import { parseInput } from "../../input/index.ts";
import { pictureSchema } from "./picture.schema.ts";
import { checkedPicture, pictureUrl, storePicture } from "./picture.store.ts";

/**
 * Changes or removes an organization's picture (ORG-4).
 *
 * @throws TowpathError `invalid_input` with `fields.picture`
 */
export async function changeOrganizationPicture(call: {
  ctx: Context;
  input: z.input<typeof pictureSchema> & { readonly orgSlug: string };
}): Promise<{ readonly pictureUrl: string | null }> {
  const { ctx, input } = call;
  const { organization } = await authorize(ctx, "organization.manage", { orgSlug: input.orgSlug });
  const { picture } = parseInput(pictureSchema, input);
  const checked = picture === null ? null : checkedPicture(picture);
  return ctx.db.transaction(async (tx) => {
    await storePicture(tx, { organizationId: organization.id }, checked, ctx.clock.now());
    await audit(tx, ctx, {
      organizationId: organization.id,
      action: "organization.picture",
      subject: organization.id,
      detail: { removed: checked === null },
    });
    return { pictureUrl: checked && pictureUrl(checked.hash) };
  });
}
