export { acceptInvitation, getInvitationOffer } from "./accept-invitation.ts";
export {
  createInvitationLink,
  listInvitations,
  resendInvitation,
  revokeInvitation,
} from "./change-invitations.ts";
export { type InvitationView, invitationViewSchema } from "./invitation.store.ts";
export { type InviteResult, inviteMembers, newInvitationSchema } from "./invite-members.ts";
