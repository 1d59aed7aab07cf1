import { sql } from "drizzle-orm";
import { check, index, integer, json, jsonb, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { instant, ownedBy } from "./columns.ts";
import { project } from "./project.ts";
import type { RetentionRule } from "./retention-rule.ts";

/**
 * An external MCP server, of a project of the kind `external` (ORG-9). Gateways read it with the routes, so changes of
 * the columns that they read notify `towpath_route` (a trigger, see migrations).
 */
export const externalServer = pgTable(
  "external_server",
  {
    id: uuid().primaryKey(),
    projectId: ownedBy(() => project.id),
    /** Its MCP endpoint. */
    url: text().notNull(),
    /** Name of the header that carries the credential, lower case; null: the server requires none. */
    credentialHeader: text(),
    /** The header's value: see `sealUpstreamCredential` of packages/secrets. */
    credentialCiphertext: text(),
    /** Incremented by each new credential; the ciphertext is bound to it. */
    credentialVersion: integer().notNull().default(0),
    /** `Manifest` of the mcp package, as the last inspection that succeeded found it. `json` keeps the order of arguments. */
    manifest: json(),
    /** Of `server_icon`: the icon that the server named; null: none. */
    iconHash: text(),
    /** Digest of what it named, by which an unchanged icon isn't read again. */
    iconSource: text(),
    /** When `manifest` was read. */
    manifestAt: instant(),
    /** `InspectionProblem` of core, of the last inspection; null: it succeeded. */
    problem: jsonb(),
    /** When it was last inspected, and when the next inspection is due. */
    checkedAt: instant(),
    nextCheckAt: instant().notNull().defaultNow(),
    /** Incremented by each change of URL or credential, to detect that two people change it at once. */
    revision: integer().notNull().default(1),
    createdAt: instant().notNull().defaultNow(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex().on(table.projectId),
    index().on(table.nextCheckAt),
    check(
      "external_server_credential_check",
      sql`num_nonnulls(${table.credentialHeader}, ${table.credentialCiphertext}) <> 1`,
    ),
  ],
);

export const externalServerRetention: RetentionRule = { until: "owner" };
