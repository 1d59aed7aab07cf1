import { createServerFn } from "@tanstack/react-start";
import { deleteOrganization } from "@towpath/core/organization";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";

const deletionInput = z.object({ orgSlug: z.string(), confirmation: z.string().max(200) });

/** Deletes the organization with everything in it, for its owners (PRJ-11). */
export const removeOrganization = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.delete")])
  .validator(input(deletionInput))
  .handler(async ({ context, data }) => {
    await deleteOrganization({ ctx: context.ctx, input: data });
  });
