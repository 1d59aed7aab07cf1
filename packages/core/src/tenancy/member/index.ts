export { changeMemberRole, leaveOrganization, listMembers, removeMember } from "./change-members.ts";
export type { MemberView } from "./member.store.ts";
