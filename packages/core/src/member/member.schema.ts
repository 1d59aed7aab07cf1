import { z } from "zod";
import { roles } from "../context/index.ts";

/** From the highest to the lowest. */
export const roleNames = roles;

/** What each role is for, in a sentence. */
export const roleSummaries = {
  owner: "Everything, including making owners and deleting the organization",
  admin: "Manages people, keys, access and servers",
  member: "Deploys and changes servers, calls them",
  viewer: "Reads, changes and calls nothing",
} as const;

const roleSchema = z.enum(roles, { error: "Choose a role" });

export const changeRoleSchema = z.object({ role: roleSchema });
