import type { Database } from "@towpath/db";
import { account, rateLimit, session, twoFactor, user, verification } from "@towpath/db/schema";
import { betterAuth } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { cookiePrefixOf } from "./cookies.ts";
import type { IssuerEmailChange } from "./issuer-email.ts";
import { issuerSessionOf } from "./issuer-sign-out.ts";
import { type OidcSettings, oidcPlugin } from "./oidc.ts";
import { authSecrets } from "./secrets.ts";
import type { SessionLimits } from "./sessions.ts";
import { codesWorkOnce, twoFactorPlugin } from "./two-factor.ts";

export type AuthConfig = {
  /** Public origin of the web process, without a trailing slash. */
  readonly baseUrl: string;
  /** The instance's root secret; sessions use a key derived from it. */
  readonly secret: string;
  /** Earlier root secrets, while it is being replaced. */
  readonly previousSecrets: readonly string[];
  readonly sessions: SessionLimits;
  /** Whether signing out ends the issuer's session too. */
  readonly endIssuerSession: boolean;
  /** Null: the embedded provider, local accounts with email address and password. */
  readonly oidc: OidcSettings | null;
  readonly newId: () => string;
  /** Runs once for every new account, after it is stored. */
  readonly onUserCreated: (userId: string) => Promise<void>;
  /** Runs when somebody signs in whose address at the issuer has changed, after it was taken over. */
  readonly onEmailChanged: (change: IssuerEmailChange) => Promise<void>;
  readonly log: (level: "debug" | "info" | "warn" | "error", message: string, detail: unknown) => void;
};

/** Header with the client's address from our HTTP server, which overwrites a client's own value. */
export const clientAddressHeader = "x-towpath-client-address";

const passwordMinLength = 10;
const passwordMaxLength = 128;

/** Page for failed sign-ins at the issuer; `error` in the query contains the reason. */
export const signInProblemPath = "/provider/problem";

/** Configures better-auth for one instance. Connects to nothing before its first request. */
export function betterAuthFor(config: AuthConfig, db: Database) {
  const secure = config.baseUrl.startsWith("https:");
  return betterAuth({
    appName: "Towpath",
    baseURL: config.baseUrl,
    basePath: "/api/auth",
    ...authSecrets({ current: config.secret, previous: config.previousSecrets }),
    trustedOrigins: [config.baseUrl],
    telemetry: { enabled: false },
    database: drizzleAdapter(db, {
      provider: "pg",
      schema: { user, session, account, verification, rateLimit, twoFactor },
    }),
    emailAndPassword: {
      enabled: config.oidc === null,
      minPasswordLength: passwordMinLength,
      maxPasswordLength: passwordMaxLength,
      autoSignIn: true,
    },
    // AUTH-11: never link accounts by email address. The latest ID token is kept: the issuer requests it at sign-out.
    account: { accountLinking: { enabled: false }, updateAccountOnSignIn: true, encryptOAuthTokens: true },
    session: {
      // Sessions end at their absolute limit. `sessions.ts` enforces the idle limit.
      expiresIn: config.sessions.maxSeconds,
      disableSessionRefresh: true,
      cookieCache: { enabled: false },
      additionalFields: {
        activeOrganizationId: { type: "string", required: false, input: false },
        issuerSessionId: { type: "string", required: false, input: false },
      },
    },
    user: {
      additionalFields: {
        firstName: { type: "string", required: false },
        lastName: { type: "string", required: false },
        githubUserId: { type: "number", required: false, input: false },
      },
    },
    // Per client address and path. The sign-in throttle limits guesses for one account from many addresses.
    rateLimit: {
      enabled: true,
      storage: "database",
      window: 60,
      max: 120,
      customRules: {
        "/sign-in/email": { window: 60, max: 20 },
        "/sign-up/email": { window: 60, max: 20 },
        "/sign-in/social": { window: 60, max: 60 },
        "/change-password": { window: 60, max: 20 },
        "/two-factor/*": { window: 60, max: 20 },
      },
    },
    advanced: {
      cookiePrefix: cookiePrefixOf(config),
      // Would prepend `__Secure-`, which is weaker than the `__Host-` of our prefix.
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path: "/", secure },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
      database: { generateId: config.newId },
    },
    databaseHooks: {
      user: { create: { after: async (created) => config.onUserCreated(created.id) } },
      session: {
        create: {
          before: async (created) => {
            const issuerSessionId = await issuerSessionOf(db, config.oidc, created.userId);
            return { data: { ...created, issuerSessionId } };
          },
        },
      },
    },
    // One list for both: the types of better-auth's endpoints come from its plugins.
    plugins: [
      twoFactorPlugin,
      codesWorkOnce(db),
      ...(config.oidc ? [oidcPlugin(config.oidc, config.baseUrl, { db, onEmailChanged: config.onEmailChanged })] : []),
    ],
    onAPIError: { errorURL: `${config.baseUrl}${signInProblemPath}` },
    logger: { level: "warn", log: (level, message, ...rest) => config.log(level, message, rest) },
  });
}
