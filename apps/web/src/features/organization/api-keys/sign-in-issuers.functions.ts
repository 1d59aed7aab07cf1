import { queryOptions } from "@tanstack/react-query";
import { createServerFn } from "@tanstack/react-start";
import { createSignInIssuer, deleteSignInIssuer, listSignInIssuers } from "@towpath/core/tenancy/sign-in-issuer";
import { createSignInIssuerSchema } from "@towpath/core/tenancy/sign-in-issuer/schema";
import { z } from "zod";
import { organizationAccess } from "~/http/access.ts";
import { exactInput, input } from "~/http/input.ts";

const organizationInput = z.object({ orgSlug: z.string() });
const issuerInput = organizationInput.extend({ issuerId: z.uuid() });

/** Identity providers whose assertions let members in (CAP-3). */
const getSignInIssuers = createServerFn({ method: "GET" })
  .middleware([organizationAccess("signInIssuer.read")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => listSignInIssuers({ ctx: context.ctx, input: data }));

/** Adds one once its keys were read. */
export const addSignInIssuer = createServerFn({ method: "POST" })
  .middleware([organizationAccess("signInIssuer.manage")])
  .validator(exactInput(createSignInIssuerSchema.extend({ orgSlug: z.string() })))
  .handler(({ context, data }) => createSignInIssuer({ ctx: context.ctx, input: data }));

/** Ends the tokens that it gave, and removes it. */
export const removeSignInIssuer = createServerFn({ method: "POST" })
  .middleware([organizationAccess("signInIssuer.manage")])
  .validator(input(issuerInput))
  .handler(({ context, data }) => deleteSignInIssuer({ ctx: context.ctx, input: data }));

export const signInIssuersQuery = (orgSlug: string) =>
  queryOptions({
    queryKey: ["sign-in-issuers", orgSlug],
    queryFn: ({ signal }) => getSignInIssuers({ data: { orgSlug }, signal }),
  });
