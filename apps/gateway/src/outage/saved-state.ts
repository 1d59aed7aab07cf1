import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  ApiKeyGrant,
  ConfirmedCache,
  Member,
  OAuthGrant,
  SavedConfirmation,
  SavedKey,
  SigningKeys,
} from "@towpath/auth/credentials";
import {
  type IssuerKeyCache,
  savedIssuerSchema,
  type WorkloadIdentity,
  workloadIdentitySchema,
} from "@towpath/auth/workloads";
import { deriveKey, openWithKeyId, sealWithKeyId } from "@towpath/crypto";
import type { Logger } from "pino";
import { z } from "zod";
import type { Leases } from "../forward/leases.ts";
import { savedLeaseSchema } from "../forward/saved-leases.ts";

const directoryName = "known";
const nameOf = (worker: number) => `worker-${worker}.sealed`;
const namePattern = /^worker-\d+\.sealed$/;
const context = "known state of a gateway, version 1";
/** Pause between two checks for changes to save, and between two reads of the files. */
const everyMs = 1000;
/** Leases and times of confirmation change without a new version. */
const saveAtLeastEveryMs = 30_000;
/** The share of a process's time that saving may take; it blocks the event loop. */
const maxShare = 0.05;

const confirmations = <Value extends z.ZodType>(value: Value) =>
  z.array(
    z.object({ id: z.string(), value, confirmedAt: z.number(), endsAt: z.number().nullable(), usedAt: z.number() }),
  );
const memberSchema = z.object({
  userId: z.string(),
  organizationId: z.string(),
  role: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
}) satisfies z.ZodType<Member>;
const stateSchema = z.object({
  apiKeys: confirmations(
    z.object({
      keyId: z.string(),
      organizationId: z.string(),
      userId: z.string().nullable(),
      projectIds: z.array(z.string()).nullable(),
    }),
  ) satisfies z.ZodType<SavedConfirmation<ApiKeyGrant>[]>,
  members: confirmations(memberSchema),
  grants: confirmations(
    z.object({ grantId: z.string(), clientId: z.string(), projectId: z.string(), member: memberSchema }),
  ) satisfies z.ZodType<SavedConfirmation<OAuthGrant>[]>,
  /** Files of earlier versions lack it. */
  workloads: confirmations(z.array(workloadIdentitySchema)).default([]),
  issuerKeys: z.array(savedIssuerSchema).default([]),
  signingKeys: z.array(
    z.object({ id: z.string(), createdAt: z.number(), expiresAt: z.number(), publicKey: z.string() }),
  ) satisfies z.ZodType<SavedKey[]>,
  leases: z.array(savedLeaseSchema),
});
type State = z.infer<typeof stateSchema>;

export type SavedStateParts = {
  readonly directory: string;
  readonly worker: number;
  /** TOWPATH_SECRET: the files are sealed with a key derived from it. */
  readonly secret: string;
  /** How long the saved state is usable. 0: nothing is saved. */
  readonly outageMs: number;
  readonly apiKeys: ConfirmedCache<ApiKeyGrant>;
  readonly members: ConfirmedCache<Member>;
  readonly grants: ConfirmedCache<OAuthGrant>;
  readonly workloads: ConfirmedCache<WorkloadIdentity[]>;
  readonly issuerKeys: IssuerKeyCache;
  readonly signingKeys: SigningKeys;
  readonly leases: Leases;
  readonly log: Logger;
};

/**
 * What a gateway process has learned and needs when PostgreSQL and the runner are unavailable, on disk (GW-10): for its
 * successor after a crash, and for the other workers, each of which learns by itself. Every process writes its own file
 * and reads them all. They hold API keys as hashes, no access tokens, and the public halves of signing keys, ours and issuers'; they are
 * sealed, so that a copy doesn't reveal who may call and a change lets nobody in.
 */
export class SavedState {
  readonly #parts: SavedStateParts;
  readonly #directory: string;
  readonly #key: ReturnType<typeof deriveKey>;
  /** Modification times of the files that were read. */
  readonly #read = new Map<string, number>();
  #loading: Promise<void> | null = null;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #saving: Promise<void> | null = null;
  #savedVersion = "";
  #savedAt = Number.NEGATIVE_INFINITY;
  #pauseUntil = Number.NEGATIVE_INFINITY;
  #hasFailed = false;
  #discards = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: SavedStateParts) {
    this.#parts = parts;
    this.#directory = join(parts.directory, directoryName);
    this.#key = deriveKey(parts.secret, "gateway-state");
    const load = () => this.load();
    for (const cache of [parts.apiKeys, parts.members, parts.grants, parts.workloads]) cache.onUnknown = load;
    parts.leases.saved.onUnknown = load;
    parts.issuerKeys.onUnknown = load;
  }

  /** Loads what all processes saved into this one's caches; at most once a second. Never rejects. */
  load(): Promise<void> {
    if (performance.now() - this.#loadedAt < everyMs) return this.#loading ?? Promise.resolve();
    this.#loadedAt = performance.now();
    this.#loading = this.#loadAll()
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, "the state for an outage cannot be read"))
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#saveIfDue(), everyMs);
    this.#timer.unref();
  }

  /** Removes what was saved, so that a successor doesn't accept what has been revoked. Saves again soon. */
  discard(): void {
    this.#discards++;
    this.#savedVersion = "";
    void this.#remove();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#saving;
    await this.#save();
  }

  get #version(): string {
    const { apiKeys, members, grants, workloads, issuerKeys, leases } = this.#parts;
    return [apiKeys, members, grants, workloads, issuerKeys, leases].map(({ version }) => version).join(" ");
  }

  #save(): Promise<void> {
    this.#saving ??= this.#write().finally(() => {
      this.#saving = null;
    });
    return this.#saving;
  }

  async #saveIfDue(): Promise<void> {
    const now = performance.now();
    if (now < this.#pauseUntil || this.#saving) return;
    if (this.#version === this.#savedVersion && now - this.#savedAt < saveAtLeastEveryMs) return;
    await this.#save();
  }

  async #write(): Promise<void> {
    const { outageMs, log } = this.#parts;
    if (outageMs === 0) return;
    const discards = this.#discards;
    this.#savedVersion = this.#version;
    this.#savedAt = performance.now();
    const path = this.#path;
    try {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      const begunAt = performance.now();
      const text = sealWithKeyId(this.#key, JSON.stringify(this.#state()), context);
      this.#pauseUntil = performance.now() + (performance.now() - begunAt) / maxShare;
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
      this.#hasFailed = false;
      if (discards !== this.#discards) await this.#remove();
    } catch (error) {
      if (!this.#hasFailed) log.warn({ err: error }, "the state for an outage cannot be saved");
      this.#hasFailed = true;
      // An old state may name what has been revoked since.
      await this.#remove();
    }
  }

  get #path(): string {
    return join(this.#directory, nameOf(this.#parts.worker));
  }

  #remove(): Promise<void> {
    return rm(this.#path, { force: true }).catch((error: unknown) => {
      this.#parts.log.error({ err: error, path: this.#path }, "this file may name callers who were revoked: remove it");
    });
  }

  #state(): State {
    const { apiKeys, members, grants, workloads, issuerKeys, signingKeys, leases } = this.#parts;
    return {
      apiKeys: apiKeys.save().map(({ value, ...rest }) => ({ ...rest, value: unshared(value) })),
      members: members.save(),
      grants: grants.save(),
      workloads: workloads.save(),
      issuerKeys: issuerKeys.save(),
      signingKeys: [...signingKeys.save()],
      leases: leases.save(),
    };
  }

  async #loadAll(): Promise<void> {
    // Remove files from before the setting changed.
    if (this.#parts.outageMs === 0) return rm(this.#directory, { recursive: true, force: true });
    const names = await readdir(this.#directory).catch(() => []);
    for (const name of names.filter((each) => namePattern.test(each))) await this.#loadFile(name);
  }

  async #loadFile(name: string): Promise<void> {
    const path = join(this.#directory, name);
    const { mtimeMs } = await stat(path);
    if (this.#read.get(name) === mtimeMs) return;
    this.#read.set(name, mtimeMs);
    if (Date.now() - mtimeMs > this.#parts.outageMs) return rm(path, { force: true });
    const state = this.#opened(await readFile(path, "utf8"));
    if (!state) return;
    const { apiKeys, members, grants, workloads, issuerKeys, signingKeys, leases } = this.#parts;
    apiKeys.restore(state.apiKeys);
    members.restore(state.members);
    grants.restore(state.grants);
    workloads.restore(state.workloads);
    issuerKeys.restore(state.issuerKeys);
    signingKeys.restore(state.signingKeys);
    leases.saved.restore(state.leases);
  }

  /** Null unless a gateway of this version with this secret wrote it. */
  #opened(text: string): State | null {
    try {
      return stateSchema.parse(JSON.parse(openWithKeyId(this.#key, text, context)));
    } catch {
      return null;
    }
  }
}

/** A list that may be written to. */
function unshared({ projectIds, ...grant }: ApiKeyGrant) {
  return { ...grant, projectIds: projectIds && [...projectIds] };
}
