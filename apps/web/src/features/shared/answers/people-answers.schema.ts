import { roles } from "@towpath/core/context";
import { apiKeyKindSchema, apiKeyScopeSchema } from "@towpath/core/tenancy/api-key/schema";
import { auditGroups } from "@towpath/core/tenancy/audit-log/schema";
import { invitableRoles } from "@towpath/core/tenancy/invitation/schema";
import { z } from "zod";
import { listOf, named, time } from "~/http/rest/answer-names.ts";

// REST answers about an organization: members, invitations, keys, the audit log.

const person = named("Person", z.object({ id: z.string(), name: z.string(), email: z.string() }));

const member = named(
  "Member",
  z.object({
    userId: z.string(),
    name: z.string(),
    email: z.string(),
    profilePictureUrl: z.string().nullable(),
    role: z.enum(roles),
    joinedAt: time,
    lastActiveAt: time.nullable(),
  }),
);

const invitation = named(
  "Invitation",
  z.object({
    id: z.uuid(),
    email: z.string(),
    role: z.enum(invitableRoles),
    status: z.enum(["pending", "expired"]),
    invitedBy: z.string().nullable(),
    createdAt: time,
    expiresAt: time,
    mail: z.object({ status: z.enum(["queued", "sent", "failed"]), problem: z.string().nullable() }).nullable(),
  }),
);

const newInvitation = named(
  "NewInvitation",
  invitation.extend({
    link: z.url().describe("shown this once"),
    notSent: z.string().nullable().describe("why no mail is sent"),
  }),
);

const apiKey = named(
  "ApiKey",
  z.object({
    id: z.uuid(),
    kind: apiKeyKindSchema,
    scope: apiKeyScopeSchema,
    name: z.string(),
    start: z.string().describe("its first characters"),
    status: z.enum(["active", "revoked", "expired"]),
    owner: person.nullable().describe("of a personal key"),
    createdBy: person.nullable(),
    servers: listOf(z.object({ id: z.uuid(), name: z.string() }))
      .nullable()
      .describe("null: all of the organization"),
    createdAt: time,
    expiresAt: time.nullable(),
    lastUsedAt: time.nullable(),
  }),
);

const auditEntry = named(
  "AuditEntry",
  z.object({
    id: z.uuid(),
    at: time,
    actor: z.object({
      id: z.string(),
      kind: z.enum(["user", "apiKey", "operator", "towpath"]),
      name: z.string(),
      email: z.string().nullable(),
    }),
    action: z.string(),
    group: z.enum(Object.keys(auditGroups) as [keyof typeof auditGroups]).nullable(),
    text: z.string().describe("for people"),
    subject: z.string().nullable(),
    project: z.object({ id: z.uuid(), name: z.string().nullable().describe("null after its deletion") }).nullable(),
    detail: z.unknown(),
    ipAddress: z.string().nullable(),
  }),
);

/** By the operation's id, or a name for answers of several operations. */
export const peopleAnswers = {
  organization: z.object({ id: z.uuid(), slug: z.string(), name: z.string() }),
  members: listOf(member),
  changedMember: z.object({ userId: z.string(), role: z.enum(roles) }),
  removedMember: z.object({ userId: z.string() }),
  invitations: listOf(invitation),
  invited: z.object({
    invited: listOf(newInvitation),
    skipped: listOf(z.object({ email: z.string(), why: z.enum(["member", "invited"]) })),
  }),
  newInvitation,
  invitationLink: z.object({ link: z.url(), expiresAt: time }),
  apiKeys: listOf(apiKey),
  apiKey,
  newApiKey: apiKey.extend({ key: z.string().describe("shown this once") }),
  auditEntries: z.object({
    entries: listOf(auditEntry),
    nextCursor: z.string().nullable().describe("pass it as `cursor`; null on the last page"),
  }),
  passwordReset: z.object({ url: z.url(), expiresAt: time, removedSecondFactor: z.boolean() }),
};
