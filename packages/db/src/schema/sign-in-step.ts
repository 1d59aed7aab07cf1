import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { project } from "./project.ts";
import { daysBefore, type RetentionRule } from "./retention-rule.ts";

/**
 * Steps of MCP clients' sign-ins, for the page that shows why one can't connect (GW-5). Web and gateways write it,
 * rate-limited. Never a code, a token, a key or a whole network address.
 */
export const signInStep = pgTable(
  "sign_in_step",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    time: instant().notNull(),
    /** Null for a step that names no server, such as a registration. */
    projectId: uuid().references(() => project.id, { onDelete: "cascade" }),
    /** `SignInStepKind` of core. */
    kind: text().notNull(),
    /** `SignInProblem` of core; null when the step succeeded. */
    problem: text(),
    /** `SignInFault` of core: what the client did wrong although the step succeeded; null for nothing. */
    fault: text(),
    /**
     * Whether a valid session, code, token or key came with it. Strangers can cause all other steps, which are limited
     * more tightly and kept for a shorter time.
     */
    isProven: boolean().notNull(),
    /** The `client_id`; no foreign key, since it may be unknown. */
    clientId: text(),
    /** The client's name in its registration. */
    clientName: text(),
    /** `name/version` from the User-Agent of the client's program; null for steps in a person's browser. */
    agent: text(),
    /** The network of the address: IPv4 /24, IPv6 /48, or `loopback`. */
    network: text(),
    /** Who signed in; without a foreign key, as only current members are named. */
    userId: uuid(),
    /** The API key of this server's organization that was shown. */
    keyId: uuid(),
    /** `oauth_authorization.id`, which is also the family of the refresh tokens. */
    authorizationId: uuid(),
    /** The client's value for one sign-in, which each of its steps has: a hash of the PKCE challenge or `state`. */
    flow: text(),
    /** Subject of the problem, such as the host of a redirect URI. */
    detail: text(),
    /** How many steps of the project were left out before this one, because there were too many. */
    leftOut: integer().notNull().default(0),
  },
  (table) => [
    index().on(table.projectId, table.isProven, table.id),
    index().on(table.isProven, table.time),
    index("sign_in_step_unplaced").on(table.time).where(sql`project_id IS NULL`),
  ],
);

/** 14 days; steps that anybody can cause, 2 days. */
export const signInStepRetention: RetentionRule = {
  until: "expired",
  condition: (moment) => sql`(${signInStep.isProven} AND ${signInStep.time} < ${daysBefore(moment, 14)}
    OR NOT ${signInStep.isProven} AND ${signInStep.time} < ${daysBefore(moment, 2)})`,
};
