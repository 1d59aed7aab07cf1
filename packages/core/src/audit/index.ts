export { type AuditEntry, actorName, audit } from "./audit.ts";
