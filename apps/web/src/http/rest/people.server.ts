import { listAuditEntries } from "@towpath/core/audit-log";
import { auditPageSchema } from "@towpath/core/audit-log/schema";
import type { Context } from "@towpath/core/context";
import { parseInput } from "@towpath/core/input";
import {
  createInvitationLink,
  inviteMembers,
  listInvitations,
  resendInvitation,
  revokeInvitation,
} from "@towpath/core/invitation";
import { inviteSchema } from "@towpath/core/invitation/schema";
import { changeMemberRole, listMembers, removeMember } from "@towpath/core/member";
import { changeRoleSchema } from "@towpath/core/member/schema";
import { updateOrganization } from "@towpath/core/organization";
import { updateOrganizationSchema } from "@towpath/core/organization/schema";
import { auditExport } from "~/http/audit-export.server.ts";
import { jsonBody, operatorOrganization } from "./operator-route.server.ts";

// Members, invitations, the audit log and the organization itself, for the operator (OPS-4).

type Of = { readonly slug: string };
type OfMember = Of & { readonly userId: string };
type OfInvitation = Of & { readonly invitationId: string };

const organizationOf = async (ctx: Context, { slug }: Of) => ({ orgSlug: await operatorOrganization(ctx, slug) });
const memberOf = async (ctx: Context, of: OfMember) => ({ ...(await organizationOf(ctx, of)), userId: of.userId });
const invitationOf = async (ctx: Context, of: OfInvitation) => ({
  ...(await organizationOf(ctx, of)),
  invitationId: of.invitationId,
});

export const changeOrganization = async (ctx: Context, of: Of, request: Request) => {
  const change = await jsonBody(request, updateOrganizationSchema);
  return updateOrganization({ ctx, input: { ...(await organizationOf(ctx, of)), ...change } });
};

export const organizationMembers = async (ctx: Context, of: Of) =>
  listMembers({ ctx, input: await organizationOf(ctx, of) });

export const changeMember = async (ctx: Context, of: OfMember, request: Request) => {
  const { role } = await jsonBody(request, changeRoleSchema);
  return changeMemberRole({ ctx, input: { ...(await memberOf(ctx, of)), role } });
};

export const endMember = async (ctx: Context, of: OfMember) => removeMember({ ctx, input: await memberOf(ctx, of) });

export const organizationInvitations = async (ctx: Context, of: Of) =>
  listInvitations({ ctx, input: await organizationOf(ctx, of) });

export const createInvitations = async (ctx: Context, of: Of, request: Request) => {
  const invited = await jsonBody(request, inviteSchema);
  return inviteMembers({ ctx, input: { ...(await organizationOf(ctx, of)), ...invited } });
};

export const endInvitation = async (ctx: Context, of: OfInvitation) =>
  revokeInvitation({ ctx, input: await invitationOf(ctx, of) });

export const sendInvitationAgain = async (ctx: Context, of: OfInvitation) =>
  resendInvitation({ ctx, input: await invitationOf(ctx, of) });

export const invitationLink = async (ctx: Context, of: OfInvitation) =>
  createInvitationLink({ ctx, input: await invitationOf(ctx, of) });

export const organizationAuditLog = async (ctx: Context, of: Of, search: URLSearchParams) => {
  const page = parseInput(auditPageSchema, Object.fromEntries(search));
  return listAuditEntries({ ctx, input: { ...(await organizationOf(ctx, of)), ...page } });
};

export const organizationAuditExport = async (ctx: Context, of: Of, search: URLSearchParams) =>
  auditExport(ctx, (await organizationOf(ctx, of)).orgSlug, search);
