import { z } from "zod";

/**
 * The lists of which views can be saved: whether a server or the organization has them, and who may read and share
 * them. Whoever may change a server's settings, or the organization's, decides what all members see there.
 */
export const viewLists = {
  requests: { of: "project", read: "project.read", share: "project.update" },
  sessions: { of: "project", read: "project.read", share: "project.update" },
  users: { of: "project", read: "project.read", share: "project.update" },
  errors: { of: "project", read: "project.read", share: "project.update" },
  output: { of: "project", read: "build.read", share: "project.update" },
  "sign-ins": { of: "project", read: "client.read", share: "project.update" },
  deployments: { of: "project", read: "build.read", share: "project.update" },
  surface: { of: "project", read: "project.read", share: "project.update" },
  servers: { of: "organization", read: "project.read", share: "organization.manage" },
  audit: { of: "organization", read: "audit.read", share: "organization.manage" },
} as const;
export type ViewList = keyof typeof viewLists;

export const viewListSchema = z.enum(Object.keys(viewLists) as [ViewList, ...ViewList[]]);

/** Its key among the views of a list: a person's own, or the shared ones. */
export const viewNameSchema = z
  .string()
  .trim()
  .min(1, "Give the view a name")
  .max(60, "A view's name must have 60 characters or less");

const maxParameters = 20;

/** The list's search parameters: filters, order and time range. Empty: the list as it opens without any. */
const viewSearchSchema = z
  .record(z.string().max(40), z.union([z.string().max(1024), z.number(), z.boolean()]))
  .refine((search) => Object.keys(search).length <= maxParameters, "These are too many filters for a view")
  .refine((search) => JSON.stringify(search).length <= 4000, "These filters are too long for a view. Remove some");

export const saveViewSchema = z.object({
  list: viewListSchema,
  name: viewNameSchema,
  search: viewSearchSchema,
  /** Whether all members see it. */
  isShared: z.boolean(),
});
