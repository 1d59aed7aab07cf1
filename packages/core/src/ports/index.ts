import type { Transaction } from "@towpath/db";
import { z } from "zod";
import { notFound, TowpathError } from "../errors/index.ts";
import type { Commit, Repository } from "../project/project.schema.ts";

/** Jobs that the worker takes from the queue. Every handler is idempotent: delivery is at least once. */
export const jobPayloadSchemas = {
  /** A stored, signature-checked webhook delivery waits to be acted on. */
  "webhook.process": z.object({ deliveryId: z.string() }),
  /** GitHub said that a branch changed: ask it how the branch is now, and act on the answer. */
  "branch.sync": z.object({ projectId: z.uuid(), branch: z.string() }),
  /** GitHub said that an installation changed: ask it whether it still exists and whether it is suspended. */
  "installation.sync": z.object({ installationId: z.number().int() }),
  /** An organization's turn: its oldest queued build is run. */
  "build.run": z.object({ organizationId: z.uuid() }),
};

export type JobName = keyof typeof jobPayloadSchemas;
export type JobPayloads = { readonly [Name in JobName]: Readonly<z.infer<(typeof jobPayloadSchemas)[Name]>> };

type EnqueueOptions = {
  /** Makes the job unique while it waits for its first run or a retry: enqueueing it again changes nothing. */
  readonly key: string;
  /** Whose job it is: a worker can limit how many jobs of one group it runs at a time. */
  readonly group?: string;
  /** The job appears when this transaction commits, and never when it does not. */
  readonly transaction?: Transaction;
};

/** Puts jobs into the queue; pg-boss in production. */
export type JobQueue = {
  enqueue<Name extends JobName>(name: Name, payload: JobPayloads[Name], options: EnqueueOptions): Promise<void>;
};

/** A repository as one installation of the GitHub App sees it. */
export type RepositoryAddress = { readonly installationId: number; readonly owner: string; readonly name: string };

/**
 * Where repositories live: GitHub or the local forge. Every call throws TowpathError, with a text for people that says
 * what the host refused.
 */
export type RepositoryHost = {
  /** @throws `not_found` for a repository that the installation cannot read. */
  repository(address: RepositoryAddress): Promise<Repository>;
  /** The newest commit of a branch; null when there is no such branch, as in an empty repository. */
  head(address: RepositoryAddress, branch: string): Promise<Commit | null>;
  /** @throws `not_found` for a commit that is not in the repository. */
  commit(address: RepositoryAddress, sha: string): Promise<Commit>;
  /** True for a file; false for a directory and for what is absent. */
  fileExists(address: RepositoryAddress, path: string, sha: string): Promise<boolean>;
};

/** @throws TowpathError `not_found` for a name that is not owner/name. */
export function addressOf(installationId: number, fullName: string): RepositoryAddress {
  const [owner, name, ...more] = fullName.split("/");
  if (!owner || !name || more.length > 0) throw notFound("repository");
  return { installationId, owner, name };
}

/** @throws TowpathError `not_configured` without a GitHub App and without the local forge. */
export function requireRepositoryHost(ctx: { readonly repositories?: RepositoryHost | null }): RepositoryHost {
  if (ctx.repositories) return ctx.repositories;
  throw gitHubNotConfigured();
}

export const gitHubNotConfigured = () =>
  new TowpathError(
    "not_configured",
    "GitHub is not set up on this instance. Ask the operator to connect a GitHub App.",
  );

export type Clock = { now(): Date };
export const systemClock: Clock = { now: () => new Date() };
