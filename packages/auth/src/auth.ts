import { deriveKey } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { account, rateLimit, session, user, verification } from "@towpath/db/schema";
import { betterAuth } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
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

/** Header in which our HTTP server passes the client's address. It overwrites a value that the client sent. */
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
    // AUTH-11: never link accounts by e-mail address.
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
    databaseHooks: { user: { create: { after: async (created) => config.onUserCreated(created.id) } } },
    plugins: config.oidc ? [oidcPlugin(config.oidc, config.baseUrl)] : [],
    onAPIError: { errorURL: `${config.baseUrl}${signInProblemPath}` },
    logger: { level: "warn", log: (level, message, ...rest) => config.log(level, message, rest) },
  });
}

/**
 * Prefix of all cookie names of an instance; a dot follows it.
 *
 * With HTTPS it starts with `__Host-`: browsers accept such a cookie only from this host, so no other host of the same
 * site can set it. Browsers reject that prefix on plain HTTP, where all ports and paths of a host share their cookies.
 * There the prefix contains a part derived from the instance's secret, so that neither a tenant's pages on the same
 * host nor other instances on the machine know which name to overwrite.
 */
export function cookiePrefixOf(instance: { readonly baseUrl: string; readonly secret: string }): string {
  if (instance.baseUrl.startsWith("https:")) return "__Host-towpath";
  const part = Buffer.from(deriveKey(instance.secret, "cookie-name").bytes.subarray(0, 8));
  return `towpath-${part.toString("hex")}`;
}

/**
 * Whether a request contains one of our cookies twice. Then another site has set one of them, for another path or a
 * parent domain, and we can't tell which is genuine: accepting either could sign the user in to an attacker's account.
 */
export function hasRepeatedCookie(headers: Headers, prefix: string): boolean {
  const seen = new Set<string>();
  for (const cookie of (headers.get("cookie") ?? "").split(";")) {
    const name = cookie.split("=", 1)[0]?.trim() ?? "";
    if (!name.startsWith(`${prefix}.`)) continue;
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}
