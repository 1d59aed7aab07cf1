import { createSignInIssuer, deleteSignInIssuer, listSignInIssuers } from "@towpath/core/tenancy/sign-in-issuer";
import { createSignInIssuerSchema } from "@towpath/core/tenancy/sign-in-issuer/schema";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

/** Identity providers whose assertions let members in (CAP-3). */
export const signInIssuerOperations: readonly Operation[] = [
  operation("GET /organizations/{slug}/sign-in-issuers", "listSignInIssuers", "signInIssuer.read", {
    summary: "identity providers whose assertions let members in without a sign-in",
    answer: answers.signInIssuers,
    handle: ({ ctx, orgSlug }) => listSignInIssuers({ ctx, input: { orgSlug } }),
  }),
  operation("POST /organizations/{slug}/sign-in-issuers", "createSignInIssuer", "signInIssuer.manage", {
    summary: "lets members in whom an `issuer` names in its assertions, once its keys were read",
    body: createSignInIssuerSchema,
    answer: answers.signInIssuer,
    handle: ({ ctx, orgSlug, body }) => createSignInIssuer({ ctx, input: { ...body, orgSlug } }),
  }),
  operation("DELETE /organizations/{slug}/sign-in-issuers/{issuerId}", "deleteSignInIssuer", "signInIssuer.manage", {
    summary: "removes one; the tokens that it gave end",
    answer: answers.deleted,
    handle: ({ ctx, orgSlug, params }) => deleteSignInIssuer({ ctx, input: { orgSlug, issuerId: params.issuerId } }),
  }),
];
