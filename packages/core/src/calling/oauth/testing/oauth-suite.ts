import { createHash, randomBytes } from "node:crypto";
import type { project } from "@towpath/db/schema";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { Actor, FullContext } from "../../../context/index.ts";
import {
  type SeededOrganization,
  seedExternalRoute,
  seedOrganization,
  seedProject,
  testContext,
} from "../../../testing/index.ts";
import {
  approveAuthorization,
  exchangeCode,
  OAuthError,
  refreshTokens,
  registerClient,
  requestAuthorization,
} from "../index.ts";
import type { SignInStep } from "../sign-in-step.schema.ts";

export const issuer = "https://towpath.example";
export const redirectUri = "https://app.example/callback";
const codeVerifier = randomBytes(32).toString("base64url");
export const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");

/** The error code that a call ends with, or `ok`. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (error instanceof OAuthError ? error.oauthCode : String(error)),
  );

type Server = { readonly id: string; readonly name: string; readonly resource: string };
type Given = Readonly<Record<string, string | null>>;
type ExchangeInput = Parameters<typeof exchangeCode>[0]["input"];
type RefreshInput = Parameters<typeof refreshTokens>[0]["input"];

/** An organization with a server and a registered client, new for each test. Call it at the top of a file. */
export function openOAuthSuite() {
  let database: TestDatabase;
  let organization: SeededOrganization;
  let server: Server;
  const suite = {
    clientId: "",
    /** The clock of all calls. */
    now: 0,
    /** What was recorded of sign-ins, oldest first. */
    steps: [] as SignInStep[],
    get database() {
      return database;
    },
    get organization() {
      return organization;
    },
    get server() {
      return server;
    },
    as: (actor: Actor, more: Partial<FullContext> = {}): FullContext =>
      testContext(database.db, actor, {
        clock: { now: () => new Date(suite.now) },
        recordSignInStep: (step) => void suite.steps.push(step),
        ...more,
      }),
    platform: (more: Partial<FullContext> = {}): FullContext => suite.as({ kind: "job", job: "oauth" }, more),
    async seedServer(authMode = "towpath-cloud"): Promise<Server> {
      const { id, name } = await seedProject(database.db, organization, { authMode } as Partial<
        typeof project.$inferInsert
      >);
      await seedExternalRoute(database.db, id, name);
      return { id, name, resource: `http://localhost:8080/${name}/mcp` };
    },
    async register(more: Record<string, unknown> = {}): Promise<string> {
      const metadata = {
        client_name: "App",
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: "none",
        ...more,
      };
      return (await registerClient({ ctx: suite.platform(), input: { metadata } })).client_id as string;
    },
    /** Sends an authorization request; `null` leaves a parameter out. */
    request(more: Given = {}, ctx?: FullContext): ReturnType<typeof requestAuthorization> {
      const parameters = {
        client_id: suite.clientId,
        redirect_uri: redirectUri,
        response_type: "code",
        state: "s1",
        code_challenge: codeChallenge,
        code_challenge_method: "S256",
        resource: server.resource,
        scope: "mcp x",
        ...more,
      };
      const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== null);
      return requestAuthorization({
        ctx: ctx ?? suite.platform(),
        input: { issuer, parameters: new URLSearchParams(given) },
      });
    },
    /** The error that an authorization request is sent back to the client with. */
    async requestError(more: Given): Promise<string | null> {
      const result = await suite.request(more);
      if (result.kind === "consent") return "accepted";
      const { origin, searchParams } = new URL(result.location);
      expect([origin, searchParams.get("state"), searchParams.get("iss")]).toEqual([
        "https://app.example",
        "s1",
        issuer,
      ]);
      expect(searchParams.get("code")).toBeNull();
      return searchParams.get("error");
    },
    async requestToken(): Promise<string> {
      const result = await suite.request();
      if (result.kind !== "consent") throw new Error(result.location);
      return result.request;
    },
    /** A code that the owner of the organization, or somebody else, granted. */
    async code(actor: Actor = organization.owner): Promise<string> {
      const input = { request: await suite.requestToken(), issuer };
      const { location } = await approveAuthorization({ ctx: suite.as(actor), input });
      return new URL(location).searchParams.get("code") ?? "";
    },
    exchange: (given: string, more: Partial<ExchangeInput> = {}): ReturnType<typeof exchangeCode> =>
      exchangeCode({
        ctx: suite.platform(),
        input: { ...none, codeVerifier, redirectUri, clientId: suite.clientId, code: given, ...more },
      }),
    refresh: (refreshToken: string | null, more: Partial<RefreshInput> = {}): ReturnType<typeof refreshTokens> =>
      refreshTokens({ ctx: suite.platform(), input: { ...none, clientId: suite.clientId, refreshToken, ...more } }),
    signIn: async (actor?: Actor): Promise<string> =>
      (await suite.exchange(await suite.code(actor))).refreshToken ?? "",
  };
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    suite.now = Date.now();
    suite.steps = [];
    organization = await seedOrganization(database.db);
    server = await suite.seedServer();
    suite.clientId = await suite.register();
  });
  return suite;
}

const none = { clientSecret: null, resource: null };
