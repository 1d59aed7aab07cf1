export {
  type AuditEntryView,
  exportAuditEntries,
  listAuditActors,
  listAuditEntries,
} from "./list-audit-entries.ts";
