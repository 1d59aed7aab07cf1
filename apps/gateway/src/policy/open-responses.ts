import {
  type ApiKeyIdentity,
  currentApiKeys,
  currentGrants,
  currentMemberships,
  type Membership,
  nameOfSignIn,
} from "@towpath/auth/credentials";
import { admits, currentWorkloads, type WorkloadIdentity } from "@towpath/auth/workloads";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Answer } from "../call/answer.ts";
import type { CallResponse } from "../call/states.ts";
import type { Route } from "../read-model/routes.ts";
import type { RouteTable } from "../route/route-table.ts";
import { listedIdOf, mayCall } from "./access.ts";
import type { Credential, Principal } from "./credentials.ts";

const sweepMs = 2000;

/** What a response answers. Its current route is looked up at each check. */
type Answered = {
  readonly route: Pick<Route, "label" | "projectId">;
  readonly answer: Readonly<Pick<Answer, "isStream" | "end">>;
};

type OpenResponse = Answered & {
  readonly response: CallResponse;
  readonly credential: Credential | null;
  /** Its position in `#open`. */
  index: number;
};

/**
 * Open responses. A stream may last for days, so its caller's key or membership is checked again every 2 s and after
 * each change, and the stream is cut once access has ended (GW-4). A check takes up to four queries, regardless of the
 * number of streams. When a project is deleted, all its streams are cut (PRJ-11); its calls still get their answers.
 */
export class OpenResponses {
  /**
   * Unordered: when a response closes, the last entry takes its place. Not a Map or Set: with a Map keyed by response,
   * closed ones survived young-generation garbage collections, which cost a sixth of the gateway's CPU under load.
   */
  readonly #open: OpenResponse[] = [];
  readonly #revoked = new WeakSet<CallResponse>();
  readonly #pool: Pool;
  readonly #routes: RouteTable;
  readonly #log: Logger;
  #running: Promise<void> | null = null;
  #again = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ pool, routes, log }: { pool: Pool; routes: RouteTable; log: Logger }) {
    this.#pool = pool;
    this.#routes = routes;
    this.#log = log;
  }

  get size(): number {
    return this.#open.length;
  }

  /** Watches a response until it closes. Call it in the same turn in which the credentials were accepted. */
  watch(response: CallResponse, { credential }: Principal, { route, answer }: Answered): void {
    if (response.destroyed) return;
    const open = { response, credential, route, answer, index: this.#open.length };
    this.#open.push(open);
    response.on("close", () => this.#remove(open));
  }

  /** Whether a response was cut because its caller's credentials had ended. */
  wasRevoked(response: CallResponse): boolean {
    return this.#revoked.has(response);
  }

  /**
   * Cuts the streams of projects that no longer have a route. Calls that were let in before end when they are answered
   * or their server stops: a client whose connection breaks can't know whether its call had an effect.
   */
  closeUnrouted(routedProjects: ReadonlySet<string>): void {
    const unrouted = this.#open.filter((open) => !routedProjects.has(open.route.projectId) && isOpenStream(open));
    for (const { response } of unrouted) response.destroy();
  }

  start(): void {
    this.#timer = setInterval(() => void this.check(), sweepMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Cuts responses whose access has ended. Calls during a check lead to one more. Without the database, cuts none. */
  check(): Promise<void> {
    if (this.#running) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#checkUntilCurrent().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  #remove({ index }: OpenResponse): void {
    const last = this.#open.pop();
    if (last === undefined || last.index === index) return;
    last.index = index;
    this.#open[index] = last;
  }

  async #checkUntilCurrent(): Promise<void> {
    do {
      this.#again = false;
      try {
        await this.#checkOnce();
      } catch (error) {
        this.#log.debug({ err: error }, "open answers cannot be checked; they continue");
      }
    } while (this.#again);
  }

  async #checkOnce(): Promise<void> {
    // Responses that open during the query were authenticated after it began: leave them to the next check.
    const asked = this.#open.flatMap((open) =>
      open.credential === null || isWhole(open) ? [] : [{ open, credential: open.credential }],
    );
    if (asked.length === 0) return;
    const keys = new Map<string, ApiKeyIdentity>();
    const memberships = new Map<string, Membership>();
    const signIns = new Set<string>();
    const identities = new Set<string>();
    for (const { credential } of asked) {
      const { membership } = credential;
      if (credential.kind === "api-key") keys.set(nameOfKey(credential.key), credential.key);
      if (credential.kind === "grant") signIns.add(nameOfSignIn(credential));
      if (credential.kind === "workload") identities.add(credential.identity.id);
      if (membership) memberships.set(nameOfMembership(membership), membership);
    }
    const [currentKeys, currentMembers, grants, workloads] = await Promise.all([
      currentApiKeys(this.#pool, [...keys.values()]),
      currentMemberships(this.#pool, [...memberships.values()]),
      currentGrants(this.#pool, [...signIns]),
      currentWorkloads(this.#pool, [...identities]),
    ]);
    const current: Current = {
      keys: new Set(currentKeys.map(nameOfKey)),
      roles: new Map(currentMembers.map((member) => [nameOfMembership(member), member.role])),
      signIns: new Set(grants.keys()),
      workloads,
      now: Date.now(),
    };
    for (const { open, credential } of asked) {
      const { response, route } = open;
      // It may have become complete meanwhile.
      if (isWhole(open) || isCurrent(credential, current, route, this.#routes.find(route.label))) continue;
      this.#revoked.add(response);
      // Not `end`: a truncated response must not look complete.
      response.destroy();
    }
  }
}

/** Whether the server's answer is complete: it may still wait for its rows to be on disk. */
function isWhole({ response, answer }: OpenResponse): boolean {
  return answer.end === "complete" || response.writableEnded;
}

/** Whether an answer has begun that may continue forever. */
function isOpenStream(open: OpenResponse): boolean {
  return open.response.headersSent && open.answer.isStream && !isWhole(open);
}

type Current = {
  keys: ReadonlySet<string>;
  roles: ReadonlyMap<string, string>;
  signIns: ReadonlySet<string>;
  workloads: ReadonlyMap<string, WorkloadIdentity>;
  now: number;
};

/** `route`: the current one; undefined if there is none. */
function isCurrent(
  credential: Credential,
  { keys, roles, signIns, workloads, now }: Current,
  { projectId }: Pick<Route, "projectId">,
  route: Pick<Route, "access" | "adminJwtGeneration"> | undefined,
): boolean {
  const { membership } = credential;
  if (credential.kind === "token") {
    if (credential.expiresAt <= now) return false;
    if (credential.generation !== null && credential.generation < (route?.adminJwtGeneration ?? 0)) return false;
  }
  if (credential.kind === "workload") {
    const identity = workloads.get(credential.identity.id);
    if (credential.expiresAt <= now || !identity) return false;
    if (!admits(identity, { subject: credential.subject, projectId })) return false;
  }
  if (credential.kind === "api-key" && !keys.has(nameOfKey(credential.key))) return false;
  if (credential.kind === "grant" && !signIns.has(nameOfSignIn(credential))) return false;
  const role = membership && roles.get(nameOfMembership(membership));
  if (role === undefined) return false;
  return mayCall(route?.access ?? null, { role, keyId: listedIdOf(credential) });
}

const nameOfKey = ({ keyId, organizationId }: ApiKeyIdentity) => `key ${keyId} ${organizationId}`;
const nameOfMembership = ({ userId, organizationId }: Membership) => `user ${userId} ${organizationId}`;
