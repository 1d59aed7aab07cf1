import type { Pool } from "pg";
import { z } from "zod";
import { ConfirmedCache } from "../credentials/confirmed-cache.ts";
import type { KeySource } from "./issuer-keys.ts";
import { admitsSubject } from "./subject-pattern.ts";

/** Channel on which the database announces changed identities. */
export const workloadChannel = "towpath_workload_identity";

/** A valid identity: whose tokens an organization accepts, and where. */
export const workloadIdentitySchema = z.object({
  id: z.string(),
  organizationId: z.string(),
  issuer: z.string(),
  jwksUrl: z.string().nullable(),
  keySet: z.string().nullable(),
  ca: z.string().nullable(),
  subjects: z.array(z.string()),
  /** The projects that they may call; null: all of the organization. */
  projectIds: z.array(z.string()).nullable(),
});
export type WorkloadIdentity = z.infer<typeof workloadIdentitySchema> & KeySource;

const columns = `id, organization_id AS "organizationId", issuer, jwks_url AS "jwksUrl", key_set AS "keySet", ca, subjects,
  project_ids AS "projectIds"`;

/** Those of the identities that are not revoked, by id. */
export async function currentWorkloads(pool: Pool, ids: readonly string[]): Promise<Map<string, WorkloadIdentity>> {
  if (ids.length === 0) return new Map();
  const { rows } = await pool.query<WorkloadIdentity>(
    `SELECT ${columns} FROM workload_identity WHERE enabled AND id = ANY ($1::uuid[])`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Whether an identity admits a subject to a project. */
export const admits = (
  { subjects, projectIds }: WorkloadIdentity,
  { subject, projectId }: { readonly subject: string; readonly projectId: string },
): boolean => (projectIds?.includes(projectId) ?? true) && subjects.some((pattern) => admitsSubject(pattern, subject));

type Trusted = { readonly organizationId: string; readonly issuer: string };

/** The identities that an organization has for an issuer, with a cache, for the hot path. */
export type WorkloadChecker = {
  /** @throws when the database is unavailable and they were not confirmed recently */
  find: (trusted: Trusted) => readonly WorkloadIdentity[] | null | Promise<readonly WorkloadIdentity[] | null>;
  /** Call `changed` for each notification on `towpath_workload_identity`. */
  cache: ConfirmedCache<WorkloadIdentity[]>;
  /** Marks an identity as used. */
  used: (id: string) => void;
  /** Stores when identities were last used, to the minute. Call it every half minute. Never rejects. */
  storeUses: () => Promise<void>;
  /** Stores why the keys of a source can't be read; null: they can. Never rejects. */
  storeProblem: (source: KeySource, problem: string | null) => Promise<void>;
};

/** An issuer that an organization does not trust costs one query in this time. */
const deniedMs = 5000;

/**
 * Creates a checker that checks an issuer's identities again after `cacheMs`, by default 5 s: without notifications, a
 * revoked one counts for that long. While the database is unavailable, known ones count for `outageMs`, by default not
 * at all.
 */
export function createWorkloadChecker(
  pool: Pool,
  options: { cacheMs?: number; outageMs?: number } = {},
): WorkloadChecker {
  const used = new Set<string>();
  const cache = new ConfirmedCache<WorkloadIdentity[]>({
    cacheMs: options.cacheMs ?? 5000,
    outageMs: options.outageMs ?? 0,
    deniedMs,
    async read(names) {
      const { rows } = await pool.query<WorkloadIdentity>(
        `SELECT ${columns} FROM workload_identity
         WHERE enabled AND (organization_id, issuer) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))
         ORDER BY id`,
        [names.map((name) => trustedOf(name).organizationId), names.map((name) => trustedOf(name).issuer)],
      );
      const byName = Map.groupBy(rows, nameOf);
      return new Map([...byName].map(([name, value]) => [name, { value }]));
    },
  });
  return {
    cache,
    find: (trusted) => cache.find(nameOf(trusted)),
    used: (id) => void used.add(id),
    async storeUses() {
      const ids = [...used];
      used.clear();
      if (ids.length === 0) return;
      await pool
        .query(
          `UPDATE workload_identity SET last_used_at = now()
           WHERE id = ANY ($1::uuid[]) AND (last_used_at IS NULL OR last_used_at < now() - interval '45 seconds')`,
          [ids],
        )
        // The next calls store it.
        .catch(() => {});
    },
    async storeProblem({ issuer, jwksUrl, keySet, ca }, problem) {
      await pool
        .query(
          `UPDATE workload_identity SET problem = $5
           WHERE issuer = $1 AND jwks_url IS NOT DISTINCT FROM $2 AND key_set IS NOT DISTINCT FROM $3
             AND ca IS NOT DISTINCT FROM $4 AND problem IS DISTINCT FROM $5`,
          [issuer, jwksUrl, keySet, ca, problem],
        )
        .catch(() => {});
    },
  };
}

const nameOf = ({ organizationId, issuer }: Trusted) => `${organizationId} ${issuer}`;

function trustedOf(name: string): Trusted {
  const at = name.indexOf(" ");
  return { organizationId: name.slice(0, at), issuer: name.slice(at + 1) };
}
