import { deriveKey } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { account, rateLimit, session, user, verification } from "@towpath/db/schema";
import { betterAuth } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { cookiePrefixOf } from "./cookies.ts";
import { type OidcSettings, oidcPlugin } from "./oidc.ts";

export type AuthConfig = {
  /** Public origin of the web process, without a trailing slash. */
  readonly baseUrl: string;
  /** The instance's root secret; sessions use a key derived from it. */
  readonly secret: string;
  /** Null: the embedded provider, local accounts with e-mail address and password. */
  readonly oidc: OidcSettings | null;
  readonly newId: () => string;
  /** Runs once for every new account, after it is stored. */
  readonly onUserCreated: (userId: string) => Promise<void>;
  readonly log: (level: "debug" | "info" | "warn" | "error", message: string, detail: unknown) => void;
};

/** Header in which our HTTP server passes on the client's address. A value that the client sent is dropped. */
export const clientAddressHeader = "x-towpath-client-address";

const passwordMinLength = 10;
const passwordMaxLength = 128;

/** Where failed round trips to the issuer end; `error` in the query names the reason. */
export const signInProblemPath = "/provider/problem";

/** better-auth, set up for one instance. Connects to nothing until it is asked something. */
export function betterAuthFor(config: AuthConfig, db: Database) {
  const secure = config.baseUrl.startsWith("https:");
  return betterAuth({
    appName: "Towpath",
    baseURL: config.baseUrl,
    basePath: "/api/auth",
    secret: Buffer.from(deriveKey(config.secret, "session").bytes).toString("base64url"),
    trustedOrigins: [config.baseUrl],
    telemetry: { enabled: false },
    database: drizzleAdapter(db, { provider: "pg", schema: { user, session, account, verification, rateLimit } }),
    emailAndPassword: {
      enabled: config.oidc === null,
      minPasswordLength: passwordMinLength,
      maxPasswordLength: passwordMaxLength,
      autoSignIn: true,
    },
    // AUTH-11: two identities with the same e-mail address are two people until one proves otherwise.
    account: { accountLinking: { enabled: false }, updateAccountOnSignIn: false, encryptOAuthTokens: true },
    session: {
      expiresIn: 7 * 24 * 3600,
      updateAge: 24 * 3600,
      cookieCache: { enabled: false },
      additionalFields: { activeOrganizationId: { type: "string", required: false, input: false } },
    },
    user: {
      additionalFields: {
        firstName: { type: "string", required: false },
        lastName: { type: "string", required: false },
        githubUserId: { type: "number", required: false, input: false },
      },
    },
    // Per address and path. The sign-in throttle limits guesses for one account from many addresses.
    rateLimit: {
      enabled: true,
      storage: "database",
      window: 60,
      max: 120,
      customRules: {
        "/sign-in/email": { window: 60, max: 20 },
        "/sign-up/email": { window: 60, max: 20 },
        "/sign-in/social": { window: 60, max: 60 },
      },
    },
    advanced: {
      cookiePrefix: cookiePrefixOf(config),
      // It would prepend `__Secure-`, which is weaker than the `__Host-` of our prefix.
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path: "/", secure },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
      database: { generateId: config.newId },
    },
    databaseHooks: { user: { create: { after: async (created) => config.onUserCreated(created.id) } } },
    plugins: config.oidc ? [oidcPlugin(config.oidc, config.baseUrl)] : [],
    onAPIError: { errorURL: `${config.baseUrl}${signInProblemPath}` },
    logger: { level: "warn", log: (level, message, ...rest) => config.log(level, message, rest) },
  });
}
