import { apiKeyPrefix, explainRefusedApiKey } from "@towpath/auth/credentials";
import { SignInRecorder } from "@towpath/logs";
import type { SignInStep } from "@towpath/logs/sign-ins";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Call } from "../call/states.ts";
import { headerOf } from "../forward/headers.ts";
import type { RefusedSignIn } from "../gateway-error.ts";
import type { OAuthEndpoint } from "../oauth/endpoints.ts";
import type { Principal } from "../policy/credentials.ts";
import type { Route } from "../read-model/routes.ts";

/** Refused keys that are looked up at the same time; further ones are only recorded as invalid. */
const maxLookups = 4;
const stopMs = 300;

type Step = Omit<SignInStep, "projectId">;
/** The request in which a step is observed. */
type Seen = Pick<Call, "request" | "address">;

/**
 * Steps of clients' sign-ins that the gateway sees (GW-5): discovery, refused credentials, and the first call with a
 * new access token. For other calls it costs one comparison.
 */
export class SignIns {
  readonly #recorder: SignInRecorder;
  readonly #pool: Pool;
  #lookups = 0;

  constructor({ pool, share, log }: { pool: Pool; share: number; log: Logger }) {
    this.#pool = pool;
    this.#recorder = new SignInRecorder({
      pool,
      share,
      onProblem: (error) => log.debug({ err: error }, "steps of sign-ins cannot be recorded"),
    });
  }

  /** A client has read metadata. `route`: undefined for an unused name, and at an origin of several servers. */
  discovered({ kind }: OAuthEndpoint, route: Route | undefined, seen: Seen): void {
    if (kind !== "resource-metadata" && kind !== "server-metadata") return;
    const step = kind === "resource-metadata" ? "resource_metadata" : "server_metadata";
    this.#record(route, { kind: step, problem: null, isProven: false }, seen);
  }

  /** A call was refused because of its credentials. */
  refused(route: Route, refused: RefusedSignIn, seen: Seen): void {
    const kind = refused.problem === null ? "challenge" : "call";
    const key = /^Bearer +([^\s,]+)$/i.exec(seen.request.headers.authorization ?? "")?.[1] ?? "";
    if (refused.problem !== "key_unknown" || !key.startsWith(apiKeyPrefix) || this.#lookups >= maxLookups) {
      this.#record(route, { ...refused, kind }, seen);
      return;
    }
    this.#lookups++;
    void this.#explainKey(route, key)
      // Without the database, nothing is recorded either.
      .catch(() => refused)
      .then((explained) => this.#record(route, { ...explained, kind }, seen))
      .finally(() => {
        this.#lookups--;
      });
  }

  /** A call was accepted. Only the first one with a new token completes a sign-in. */
  accepted(route: Route, { credential }: Principal, seen: Seen): void {
    if (credential?.kind !== "grant" || credential.authorizationId === null) return;
    const { authorizationId, clientId, membership } = credential;
    const { userId } = membership;
    this.#record(route, { kind: "call", problem: null, isProven: true, authorizationId, clientId, userId }, seen);
  }

  stop(): Promise<void> {
    return this.#recorder.stop(stopMs);
  }

  async #explainKey(route: Route, key: string): Promise<RefusedSignIn> {
    const found = await explainRefusedApiKey(this.#pool, key);
    if (!found) return { problem: "key_unknown", isProven: false };
    // Another organization's: don't reveal whether it was revoked or has expired.
    if (found.organizationId !== route.organizationId) return { problem: "key_of_other_team", isProven: false };
    const problem = found.problem === "revoked" ? "key_revoked" : "key_expired";
    return { problem, isProven: true, keyId: found.keyId };
  }

  #record(route: Route | undefined, step: Step, seen: Seen): void {
    if (route && route.authMode !== "towpath-cloud") return;
    this.#recorder.record({
      ...step,
      projectId: route?.projectId ?? null,
      address: seen.address,
      agent: headerOf(seen.request, "user-agent") ?? null,
    });
  }
}
