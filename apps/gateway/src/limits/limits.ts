import { Bucket, type CallLimits, lower, networkOf, type Rate } from "@towpath/limits";
import type { CallResponse } from "../call/states.ts";
import type { Principal } from "../policy/credentials.ts";
import type { Route } from "../read-model/routes.ts";
import { type Limited, type Reached, rateLimited, tooManyOpen } from "./refusals.ts";

/** State of one caller, server or organization, or of the refusals of a network. */
export class Entry {
  readonly name: string;
  readonly bucket = new Bucket();
  /** Requests under way in this process. */
  open = 0;
  /** Milliseconds taken from the bucket that have not been sent to other processes. */
  unsentMs = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/** Entries of recent callers. An entry with a full bucket holds no information and is removed. */
class Entries {
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Entry {
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      entry = new Entry(name);
      this.#entries.set(name, entry);
    }
    return entry;
  }

  prune(now: number): void {
    for (const [name, { bucket, open, unsentMs }] of this.#entries) {
      if (bucket.fullAt <= now && open === 0 && unsentMs === 0) this.#entries.delete(name);
    }
  }
}

/** Requests under way at a time, streams included. */
export type OpenLimits = { readonly caller: number; readonly organization: number };

/** Where a request comes from: who, and the client's address, which identifies callers without a name. */
export type Source = {
  readonly principal: Principal;
  readonly address: string;
  /** It came through a portal, which has counted it for their common organization. */
  readonly isThroughPortal: boolean;
};

/** The limits of one request: of its caller, its server and its organization. */
export type RequestLimits = {
  /**
   * Counts the request as open until its response closes.
   *
   * @throws GatewayError 429 when its caller or organization has too many open requests
   */
  enter: (response: CallResponse) => void;
  /**
   * Takes `calls` from the buckets of its caller, server and organization; a batch has several.
   *
   * @throws GatewayError 429 when one of them has too few left; then nothing is taken
   */
  take: (calls: number) => void;
  /** Requests of its organization under way in this process. */
  readonly openOfOrganization: number;
};

/** `isOwn`: the server's own limit is lower than the instance's. */
type Limit = { readonly rate: Rate | null; readonly isOwn: boolean };
type Applied = Limit & { readonly limited: Limited; readonly entry: Entry };
/** Limits of a server, for any caller: looked up once for each loaded route. */
type RouteLimits = { readonly caller: Limit; readonly server: Limit; readonly names: readonly string[] };

const pruneMs = 10_000;

/**
 * The limits of calls (GW-8). Each process has a bucket for each caller at a server, each server and each organization,
 * and reports to the others what it let in (`onTaken`): docs/decisions/027-limits-of-calls.md.
 */
export class Limits {
  readonly #limits: CallLimits;
  readonly #open: OpenLimits;
  readonly #now: () => number;
  readonly #onTaken: ((entry: Entry, takenMs: number) => void) | undefined;
  readonly #entries = new Entries();
  readonly #ofRoutes = new WeakMap<Route, RouteLimits>();
  #timer: NodeJS.Timeout | undefined;

  /** `now`: monotonic milliseconds. */
  constructor(parts: {
    limits: CallLimits;
    open: OpenLimits;
    onTaken?: (entry: Entry, takenMs: number) => void;
    now?: () => number;
  }) {
    this.#limits = parts.limits;
    this.#open = parts.open;
    this.#onTaken = parts.onTaken;
    this.#now = parts.now ?? (() => performance.now());
  }

  /** Callers, servers and organizations with an entry. */
  get size(): number {
    return this.#entries.size;
  }

  start(): void {
    this.#timer = setInterval(() => this.#entries.prune(this.#now()), pruneMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The limits of a request to a server. Counts nothing yet. */
  of(route: Route, source: Source): RequestLimits {
    const { caller, server, names } = this.#limitsOf(route);
    const [serverName = "", organizationName = ""] = names;
    const entry = this.#entries.get(`${serverName} ${callerName(source)}`);
    const organization = this.#entries.get(organizationName);
    const isFirst = !source.isThroughPortal;
    const open = this.#open;
    const take = (calls: number) =>
      this.#take(
        [
          { limited: "caller", entry, rate: caller.rate, isOwn: caller.isOwn },
          { limited: "server", entry: this.#entries.get(serverName), rate: server.rate, isOwn: server.isOwn },
          {
            limited: "organization",
            entry: organization,
            rate: isFirst ? this.#limits.organization : null,
            isOwn: false,
          },
        ],
        Math.max(1, calls),
      );
    return {
      take,
      enter(response) {
        if (entry.open >= open.caller) throw tooManyOpen("caller", open.caller);
        if (isFirst && organization.open >= open.organization) throw tooManyOpen("organization", open.organization);
        countOpen(isFirst ? [entry, organization] : [entry], response);
      },
      get openOfOrganization() {
        return organization.open;
      },
    };
  }

  /** Whether a network may get one more refusal at once. */
  takeRefusal(address: string, rate: Rate): boolean {
    const now = this.#now();
    const { bucket } = this.#entries.get(`refusals ${networkOf(address)}`);
    if (bucket.waitFor(1, rate, now) > 0) return false;
    bucket.take(1, rate, now);
    return true;
  }

  /** Takes what another process has let in. */
  takenElsewhere(name: string, takenMs: number): void {
    this.#entries.get(name).bucket.delay(takenMs, this.#now());
  }

  #take(applied: readonly Applied[], calls: number): void {
    const now = this.#now();
    let longest: Reached | null = null;
    for (const { limited, entry, rate, isOwn } of applied) {
      const waitMs = rate === null ? 0 : entry.bucket.waitFor(calls, rate, now);
      if (rate !== null && waitMs > (longest?.waitMs ?? 0)) longest = { limited, rate, isOwn, waitMs };
    }
    if (longest !== null) throw rateLimited(longest);
    for (const { entry, rate } of applied) {
      if (rate === null) continue;
      const takenMs = entry.bucket.take(calls, rate, now);
      this.#onTaken?.(entry, takenMs);
    }
  }

  #limitsOf(route: Route): RouteLimits {
    const known = this.#ofRoutes.get(route);
    if (known) return known;
    const { caller, server } = this.#limits;
    const limits = {
      caller: together(caller, route.limits?.caller ?? null),
      server: together(server, route.limits?.server ?? null),
      names: [`server ${route.projectId}`, `organization ${route.organizationId}`],
    };
    this.#ofRoutes.set(route, limits);
    return limits;
  }
}

function countOpen(entries: readonly Entry[], response: CallResponse): void {
  // Already closed: there will be no close event.
  if (response.destroyed) return;
  for (const entry of entries) entry.open++;
  response.on("close", () => {
    for (const entry of entries) entry.open--;
  });
}

function together(instance: Rate | null, own: Rate | null): Limit {
  const isLower =
    instance === null || (own !== null && (own.perMinute < instance.perMinute || own.burst < instance.burst));
  return { rate: lower(instance, own), isOwn: own !== null && isLower };
}

/** Callers without a name are distinguished by network address. */
function callerName({ principal, address }: Source): string {
  return principal.actor === null ? networkOf(address) : principal.id;
}
