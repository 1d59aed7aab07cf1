import type { Context } from "@towpath/core/context";
import { TowpathError } from "@towpath/core/errors";
import { listProjects } from "@towpath/core/projects/project";
import {
  createApiKey,
  deleteApiKey,
  listApiKeys,
  listPersonalApiKeys,
  revokeApiKey,
} from "@towpath/core/tenancy/api-key";
import { apiKeyKindSchema, createApiKeySchema } from "@towpath/core/tenancy/api-key/schema";
import { listAuditEntries } from "@towpath/core/tenancy/audit-log";
import { auditPageSchema } from "@towpath/core/tenancy/audit-log/schema";
import {
  createInvitationLink,
  inviteMembers,
  listInvitations,
  resendInvitation,
  revokeInvitation,
} from "@towpath/core/tenancy/invitation";
import { inviteSchema } from "@towpath/core/tenancy/invitation/schema";
import { changeMemberRole, listMembers, removeMember } from "@towpath/core/tenancy/member";
import { changeRoleSchema } from "@towpath/core/tenancy/member/schema";
import { updateOrganization } from "@towpath/core/tenancy/organization";
import { updateOrganizationSchema } from "@towpath/core/tenancy/organization/schema";
import {
  createWorkloadIdentity,
  deleteWorkloadIdentity,
  listWorkloadIdentities,
  revokeWorkloadIdentity,
} from "@towpath/core/tenancy/workload-identity";
import { z } from "zod";
import { auditExport, auditExportSchema } from "~/features/organization/audit-log/audit-export.server.ts";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { mediaTypes } from "~/http/download.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";
import { signInIssuerOperations } from "./sign-in-issuers.rest.server.ts";

const newKeySchema = createApiKeySchema.omit({ kind: true, projectIds: true }).extend({
  /** Names of the servers that it may call or manage; absent or null: all. */
  servers: z.array(z.string()).min(1).max(200).nullish(),
});

/** @throws TowpathError `invalid_input` naming unknown servers */
async function idsOf(ctx: Context, orgSlug: string, names: readonly string[]): Promise<string[]> {
  const projects = await listProjects({ ctx, input: { orgSlug } });
  return names.map((name) => {
    const found = projects.find((project) => project.name.toLowerCase() === name.toLowerCase());
    if (found) return found.id;
    const message = `The organization ${orgSlug} has no server ${name}.`;
    throw new TowpathError("invalid_input", message, { fields: { servers: message } });
  });
}

const keyOperations: readonly Operation[] = [
  operation("GET /organizations/{slug}/api-keys", "listApiKeys", "apiKey.manage", {
    summary: "keys of the organization, or with `?kind=personal` those of its members",
    query: z.object({ kind: apiKeyKindSchema.default("organization") }),
    answer: answers.apiKeys,
    handle: ({ ctx, orgSlug, query }) =>
      query.kind === "organization"
        ? listApiKeys({ ctx, input: { orgSlug } })
        : listPersonalApiKeys({ ctx, input: { orgSlug, of: "everyone" } }),
  }),
  operation("POST /organizations/{slug}/api-keys", "createApiKey", "apiKey.manage", {
    summary: "creates a key of the organization, which is shown this once",
    body: newKeySchema,
    answer: answers.newApiKey,
    // A key of the organization: the operator isn't a user that a key could act as.
    handle: async ({ ctx, orgSlug, body: { servers, ...body } }) => {
      const projectIds = servers ? await idsOf(ctx, orgSlug, servers) : null;
      return createApiKey({ ctx, input: { ...body, orgSlug, kind: "organization", projectIds } });
    },
  }),
  operation("POST /organizations/{slug}/api-keys/{keyId}/revoke", "revokeApiKey", "apiKey.manage", {
    summary: "revokes it",
    answer: answers.apiKey,
    handle: ({ ctx, orgSlug, params }) => revokeApiKey({ ctx, input: { orgSlug, keyId: params.keyId } }),
  }),
  operation("DELETE /organizations/{slug}/api-keys/{keyId}", "deleteApiKey", "apiKey.manage", {
    summary: "deletes it",
    answer: answers.deleted,
    handle: ({ ctx, orgSlug, params }) => deleteApiKey({ ctx, input: { orgSlug, keyId: params.keyId } }),
  }),
];

const newWorkloadIdentitySchema = z.object({
  name: z.string(),
  issuer: z.string(),
  subjects: z.array(z.string()),
  /** Names of the servers that they may call; absent or null: all. */
  servers: z.array(z.string()).min(1).max(200).nullish(),
  jwksUrl: z.string().nullish(),
  /** A JWK set as JSON. */
  keySet: z.string().nullish(),
  /** PEM */
  ca: z.string().nullish(),
});

const workloadOperations: readonly Operation[] = [
  operation("GET /organizations/{slug}/workload-identities", "listWorkloadIdentities", "workload.read", {
    summary: "workloads that may call servers with tokens of their issuer",
    answer: answers.workloadIdentities,
    handle: ({ ctx, orgSlug }) => listWorkloadIdentities({ ctx, input: { orgSlug } }),
  }),
  operation("POST /organizations/{slug}/workload-identities", "createWorkloadIdentity", "workload.manage", {
    summary:
      "lets workloads of an `issuer` whose `subjects` match call `servers`, once its keys were read: by discovery, from `jwksUrl` or `keySet`",
    body: newWorkloadIdentitySchema,
    answer: answers.workloadIdentity,
    handle: async ({ ctx, orgSlug, body: { servers, ...body } }) => {
      const projectIds = servers ? await idsOf(ctx, orgSlug, servers) : null;
      return createWorkloadIdentity({ ctx, input: { ...body, orgSlug, projectIds } });
    },
  }),
  operation(
    "POST /organizations/{slug}/workload-identities/{identityId}/revoke",
    "revokeWorkloadIdentity",
    "workload.manage",
    {
      summary: "revokes one",
      answer: answers.workloadIdentity,
      handle: ({ ctx, orgSlug, params }) =>
        revokeWorkloadIdentity({ ctx, input: { orgSlug, identityId: params.identityId } }),
    },
  ),
  operation(
    "DELETE /organizations/{slug}/workload-identities/{identityId}",
    "deleteWorkloadIdentity",
    "workload.manage",
    {
      summary: "deletes one",
      answer: answers.deleted,
      handle: ({ ctx, orgSlug, params }) =>
        deleteWorkloadIdentity({ ctx, input: { orgSlug, identityId: params.identityId } }),
    },
  ),
];

const invitationOperations: readonly Operation[] = [
  operation("GET /organizations/{slug}/invitations", "listInvitations", "member.manage", {
    summary: "invitations that nobody has accepted",
    answer: answers.invitations,
    handle: ({ ctx, orgSlug }) => listInvitations({ ctx, input: { orgSlug } }),
  }),
  operation("POST /organizations/{slug}/invitations", "inviteMembers", "member.manage", {
    summary: "invites `emails` as `role`; the links are shown this once",
    body: inviteSchema,
    answer: answers.invited,
    handle: ({ ctx, orgSlug, body }) => inviteMembers({ ctx, input: { orgSlug, ...body } }),
  }),
  operation("DELETE /organizations/{slug}/invitations/{invitationId}", "revokeInvitation", "member.manage", {
    summary: "revokes one",
    answer: answers.deleted,
    handle: ({ ctx, orgSlug, params }) =>
      revokeInvitation({ ctx, input: { orgSlug, invitationId: params.invitationId } }),
  }),
  operation("POST /organizations/{slug}/invitations/{invitationId}/resend", "resendInvitation", "member.manage", {
    summary: "sends it again, for seven days; earlier links end",
    answer: answers.newInvitation,
    handle: ({ ctx, orgSlug, params }) =>
      resendInvitation({ ctx, input: { orgSlug, invitationId: params.invitationId } }),
  }),
  operation("POST /organizations/{slug}/invitations/{invitationId}/link", "createInvitationLink", "member.manage", {
    summary: "a further link",
    answer: answers.invitationLink,
    handle: ({ ctx, orgSlug, params }) =>
      createInvitationLink({ ctx, input: { orgSlug, invitationId: params.invitationId } }),
  }),
];

/** Members, invitations, keys, the audit log and the organization itself. */
export const peopleOperations: readonly Operation[] = [
  operation("PATCH /organizations/{slug}", "updateOrganization", "organization.manage", {
    summary: "changes `name`, `slug`, or both",
    body: updateOrganizationSchema,
    answer: answers.organization,
    handle: ({ ctx, orgSlug, body }) => updateOrganization({ ctx, input: { orgSlug, ...body } }),
  }),
  operation("GET /organizations/{slug}/members", "listMembers", "member.read", {
    summary: "members with role, when they joined and were last active",
    answer: answers.members,
    handle: ({ ctx, orgSlug }) => listMembers({ ctx, input: { orgSlug } }),
  }),
  operation("PATCH /organizations/{slug}/members/{userId}", "changeMemberRole", "member.manage", {
    summary: "changes the `role`",
    body: changeRoleSchema,
    answer: answers.changedMember,
    handle: ({ ctx, orgSlug, params, body }) =>
      changeMemberRole({ ctx, input: { orgSlug, userId: params.userId, role: body.role } }),
  }),
  operation("DELETE /organizations/{slug}/members/{userId}", "removeMember", "member.manage", {
    summary:
      "removes a member; `?revokeKeys=all`, or ids separated by commas, also revokes keys of the organization that they created",
    query: z.object({ revokeKeys: z.string().max(40_000).optional() }),
    answer: answers.removedMember,
    handle: ({ ctx, orgSlug, params, query: { revokeKeys } }) =>
      removeMember({
        ctx,
        input: {
          orgSlug,
          userId: params.userId,
          revokeKeys: revokeKeys === "all" ? revokeKeys : (revokeKeys?.split(",") ?? []),
        },
      }),
  }),
  ...invitationOperations,
  ...keyOperations,
  ...workloadOperations,
  ...signInIssuerOperations,
  operation("GET /organizations/{slug}/audit-log", "listAuditEntries", "audit.read", {
    summary: "the newest entries, in pages",
    query: auditPageSchema,
    answer: answers.auditEntries,
    handle: ({ ctx, orgSlug, query }) => listAuditEntries({ ctx, input: { orgSlug, ...query } }),
  }),
  operation("GET /organizations/{slug}/audit-log/export", "exportAuditEntries", "audit.read", {
    summary: "all that match, as CSV or JSON Lines",
    query: auditExportSchema,
    answer: z.instanceof(Response),
    mediaTypes: Object.values(mediaTypes),
    handle: ({ ctx, orgSlug, query }) => auditExport(ctx, orgSlug, query),
  }),
];
