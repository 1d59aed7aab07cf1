import { createServerFn } from "@tanstack/react-start";
import {
  createInvitationLink,
  inviteMembers,
  listInvitations,
  resendInvitation,
  revokeInvitation as revokeInvitationVerb,
} from "@towpath/core/tenancy/invitation";
import { inviteSchema } from "@towpath/core/tenancy/invitation/schema";
import {
  changeMemberRole,
  leaveOrganization as leaveOrganizationVerb,
  listMembers,
  removeMember as removeMemberVerb,
} from "@towpath/core/tenancy/member";
import { changeRoleSchema, removeMemberSchema } from "@towpath/core/tenancy/member/schema";
import { getUserProfiles, listUserProfiles } from "@towpath/core/tenancy/organization";
import { userIdsSchema } from "@towpath/core/tenancy/organization/schema";
import { z } from "zod";
import { organizationAccess, organizationIdAccess, selfAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { queryOf } from "~/http/query-of.ts";

const organizationInput = z.object({ orgSlug: z.string() });
const memberInput = organizationInput.extend({ userId: z.uuid() });
const invitationInput = organizationInput.extend({ invitationId: z.uuid() });

/** The organization's members (ORG-6). */
const getMembers = createServerFn({ method: "GET" })
  .middleware([organizationAccess("member.read")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => listMembers({ ctx: context.ctx, input: data }));

/** Open invitations. */
const getInvitations = createServerFn({ method: "GET" })
  .middleware([organizationAccess("member.manage")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => listInvitations({ ctx: context.ctx, input: data }));

/** Invites people. Only this response has their links. */
export const invitePeople = createServerFn({ method: "POST" })
  .middleware([organizationAccess("member.manage")])
  .validator(input(inviteSchema.extend({ orgSlug: z.string() })))
  .handler(({ context, data }) => inviteMembers({ ctx: context.ctx, input: data }));

/** Sends an invitation again, for another seven days. */
export const sendAgain = createServerFn({ method: "POST" })
  .middleware([organizationAccess("member.manage")])
  .validator(input(invitationInput))
  .handler(({ context, data }) => resendInvitation({ ctx: context.ctx, input: data }));

/** A link of an invitation, to hand over by other means. */
export const createLink = createServerFn({ method: "POST" })
  .middleware([organizationAccess("member.manage")])
  .validator(input(invitationInput))
  .handler(({ context, data }) => createInvitationLink({ ctx: context.ctx, input: data }));

/** Ends all links of an invitation. */
export const revokeInvitation = createServerFn({ method: "POST" })
  .middleware([organizationAccess("member.manage")])
  .validator(input(invitationInput))
  .handler(({ context, data }) => revokeInvitationVerb({ ctx: context.ctx, input: data }));

/** Changes a member's role. The verb decides who may make or change owners. */
export const changeRole = createServerFn({ method: "POST" })
  .middleware([organizationAccess("member.manage")])
  .validator(input(memberInput.extend(changeRoleSchema.shape)))
  .handler(({ context, data }) => changeMemberRole({ ctx: context.ctx, input: data }));

/** Ends a membership. */
export const removeMember = createServerFn({ method: "POST" })
  .middleware([organizationAccess("member.manage")])
  .validator(input(memberInput.extend(removeMemberSchema.shape)))
  .handler(({ context, data }) => removeMemberVerb({ ctx: context.ctx, input: data }));

/** Ends the caller's own membership. Every role may. */
export const leaveOrganization = createServerFn({ method: "POST" })
  .middleware([organizationAccess("organization.read")])
  .validator(input(organizationInput))
  .handler(({ context, data }) => leaveOrganizationVerb({ ctx: context.ctx, input: data }));

/** Profiles of an organization's members, by the organization's id (ORG-11). @public */
export const getOrganizationProfiles = createServerFn({ method: "POST" })
  .middleware([organizationIdAccess("member.read")])
  .validator(input(z.object({ organizationId: z.string() })))
  .handler(({ context, data }) => listUserProfiles({ ctx: context.ctx, input: data }));

/** Profiles by users' ids, of people who share an organization with the caller (ORG-11). @public */
export const getProfilesByIds = createServerFn({ method: "POST" })
  .middleware([selfAccess])
  .validator(input(userIdsSchema))
  .handler(({ context, data }) => getUserProfiles({ ctx: context.ctx, input: data }));

export const membersQuery = (orgSlug: string) => queryOf(["members", orgSlug], getMembers, { orgSlug });

export const invitationsQuery = (orgSlug: string) => queryOf(["invitations", orgSlug], getInvitations, { orgSlug });
