import { z } from "zod";
import { roles } from "../../context/index.ts";

/** From the highest to the lowest. */
export const roleNames = roles;

/** What each role is for, in a sentence. */
export const roleSummaries = {
  owner: "Can do everything, including making owners and deleting the organization",
  admin: "Can manage members, keys, access and servers",
  member: "Can deploy, change and call servers",
  viewer: "Can view everything, change nothing, call nothing",
} as const;

const roleSchema = z.enum(roles, { error: "Choose a role" });

export const changeRoleSchema = z.object({ role: roleSchema });

export const removeMemberSchema = z.object({
  /** Of the organization's keys that the member created: their ids, or all. */
  revokeKeys: z.union([z.literal("all"), z.array(z.uuid()).max(1000)]).default([]),
});
export type RevokedKeys = z.output<typeof removeMemberSchema>["revokeKeys"];
