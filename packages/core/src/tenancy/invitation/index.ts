export { acceptInvitation, getInvitationOffer } from "./accept-invitation.ts";
export {
  createInvitationLink,
  listInvitations,
  resendInvitation,
  revokeInvitation,
} from "./change-invitations.ts";
export type { InvitationView } from "./invitation.store.ts";
export { type InviteResult, inviteMembers } from "./invite-members.ts";
