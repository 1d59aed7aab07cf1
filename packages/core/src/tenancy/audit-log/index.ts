export {
  type AuditEntryView,
  auditEntrySchema,
  exportAuditEntries,
  listAuditActors,
  listAuditEntries,
} from "./list-audit-entries.ts";
