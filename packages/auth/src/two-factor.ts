import { sha256 } from "@towpath/crypto";
import type { Database } from "@towpath/db";
import { verification } from "@towpath/db/schema";
import type { BetterAuthPlugin } from "better-auth";
import { APIError, createAuthMiddleware, getSessionFromCtx, isAPIError } from "better-auth/api";
import { twoFactor } from "better-auth/plugins";
import { eq, lt } from "drizzle-orm";

/** Time for the second step of a sign-in, in seconds. */
const challengeSeconds = 600;

/** How many recovery codes people get. */
export const recoveryCodeCount = 10;

/**
 * Authenticator apps (TOTP, RFC 6238) with recovery codes. Five wrong codes end a sign-in; ten in a row lock the second
 * factor for 15 minutes. Both require the password first, so that only somebody who knows it can cause the lock.
 */
export const twoFactorPlugin = twoFactor({
  issuer: "Towpath",
  twoFactorCookieMaxAge: challengeSeconds,
  backupCodeOptions: { amount: recoveryCodeCount },
});

/** Longer than a code is accepted: its own 30 seconds, and those before and after. */
const rememberCodeMs = 120_000;
const verifyPath = "/two-factor/verify-totp";

/**
 * Lets each code of an authenticator app work once (RFC 6238, section 5.2), so that an observer can't reuse it. The
 * code is claimed before it is checked, because two requests may contain the same one; a wrong code is released.
 */
export function codesWorkOnce(db: Database) {
  /** By request, because a failed attempt may have ended the sign-in that identifies the code's owner. */
  const claims = new WeakMap<Request, string>();
  return {
    id: "towpath-codes-work-once",
    hooks: {
      before: [
        {
          matcher: ({ path }) => path === verifyPath,
          handler: createAuthMiddleware(async (ctx) => {
            const userId = await userOf(ctx);
            if (!userId || !ctx.request) return;
            const id = claimId(userId, ctx.body?.code);
            if (!(await claim(db, id)))
              throw APIError.from("UNAUTHORIZED", { code: "INVALID_CODE", message: "Invalid code" });
            claims.set(ctx.request, id);
          }),
        },
      ],
      after: [
        {
          matcher: ({ path }) => path === verifyPath,
          handler: createAuthMiddleware(async (ctx) => {
            const id = ctx.request && claims.get(ctx.request);
            if (id && isAPIError(ctx.context.returned)) await db.delete(verification).where(eq(verification.id, id));
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;
}

type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** The user who is signed in or about to be; null for none, which the endpoint refuses. */
async function userOf(ctx: HookContext): Promise<string | null> {
  const session = await getSessionFromCtx(ctx);
  if (session) return session.user.id;
  const cookie = ctx.context.createAuthCookie("two_factor");
  const challenge = await ctx.getSignedCookie(cookie.name, ctx.context.secret);
  if (!challenge) return null;
  return (await ctx.context.internalAdapter.findVerificationValue(challenge))?.value ?? null;
}

/** One row for a person and a code, because an id is unique and an identifier is not. */
function claimId(userId: string, code: unknown): string {
  const digest = sha256(`totp\n${userId}\n${String(code)}`, "hex");
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, "$1-$2-$3-$4-$5");
}

async function claim(db: Database, id: string): Promise<boolean> {
  const row = {
    id,
    identifier: "totp-used",
    value: "",
    expiresAt: new Date(Date.now() + rememberCodeMs),
  };
  const claimed = await db
    .insert(verification)
    .values(row)
    .onConflictDoUpdate({
      target: verification.id,
      set: { expiresAt: row.expiresAt },
      setWhere: lt(verification.expiresAt, new Date()),
    })
    .returning({ id: verification.id });
  return claimed.length > 0;
}
