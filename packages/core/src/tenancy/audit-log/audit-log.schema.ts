import { z } from "zod";

/** Groups of actions, to filter the audit log by. */
export const auditGroups = {
  people: "People and roles",
  team: "Organization",
  servers: "Servers and settings",
  builds: "Builds and deployments",
  variables: "Environment variables",
  access: "Access and limits",
  keys: "API keys and tokens",
  alerts: "Alerts",
  clients: "Connected clients",
  github: "GitHub",
} as const;
export type AuditGroup = keyof typeof auditGroups;

export const auditFilterSchema = z.object({
  /** `user:<id>`, `apiKey:<id>`, `operator`, or `towpath` for what the platform did by itself. */
  actor: z.string().max(60).optional(),
  group: z.enum(Object.keys(auditGroups) as [AuditGroup, ...AuditGroup[]]).optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
});
export type AuditFilter = z.input<typeof auditFilterSchema>;

export const auditPageSchema = auditFilterSchema.extend({
  /** `nextCursor` of the page before. */
  cursor: z.string().max(100).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export type AuditPageInput = z.input<typeof auditPageSchema>;
