export { changeMemberRole, leaveOrganization, listMembers, removeMember } from "./change-members.ts";
export { type MemberView, memberViewSchema } from "./member.store.ts";
