import { type CredentialProblem, safeReturnPath, signInProblemPath } from "@towpath/auth";
import { TowpathError } from "@towpath/core/errors";
import { parseInput } from "@towpath/core/input";
import { services } from "~/compose.server.ts";
import { isSameOrigin, redirectTo } from "~/http/request.server.ts";
import { type RefusedForm, signInSchema, signUpSchema } from "./credentials.schema.ts";

/** Redirects to the sign-in provider; a signed-in user goes straight to the requested page. */
export async function redirectToProvider(request: Request, options: { readonly signUp: boolean }): Promise<Response> {
  const { auth } = services();
  const { searchParams } = new URL(request.url);
  const returnPath = safeReturnPath(searchParams.get("returnTo"));
  const email = searchParams.get("email")?.slice(0, 254) ?? null;
  if (await auth.session(request.headers)) return redirectTo(returnPath);
  const started = await auth.start({ returnPath, email, signUp: options.signUp, headers: request.headers });
  if (started.kind === "redirect") return redirectTo(started.location, started.headers);
  const error = started.kind === "too_many_attempts" ? "too_many_attempts" : "provider_unreachable";
  return redirectTo(`${signInProblemPath}?error=${error}`);
}

/** The embedded provider's pages redirect to the external provider when one is configured; null when none is. */
export function redirectIfExternal(page: "sign-in" | "sign-up"): Response | null {
  return services().auth.embedded ? null : redirectTo(page === "sign-in" ? "/login" : "/signup");
}

const messages = {
  wrong_credentials: "No account matches this email and password.",
  already_exists: "An account with this email already exists. Sign in instead.",
  invalid: "Some of what you entered is invalid. Check it and try again.",
  unavailable: "Sign-in is not available right now. Try again in a moment.",
  wrong_code: "This code is wrong or already used.",
  start_again: "This sign-in took too long or had too many wrong codes. Sign in again.",
} as const;

const secondFactorPath = "/provider/second-factor";

export function messageOf(result: CredentialProblem): string {
  if (result.problem !== "too_many_attempts") return messages[result.problem];
  return `Too many attempts. Try again in ${durationText(result.retryAfterSeconds)}.`;
}

function durationText(seconds: number): string {
  if (seconds === 1) return "1 second";
  const minutes = Math.ceil(seconds / 60);
  return seconds <= 90 ? `${seconds} seconds` : `${minutes} minutes`;
}

const maxFormBytes = 16_384;

/**
 * Handles a form of the embedded provider (AUTH-2). Returns a redirect with the session's cookie, or the form to show
 * again.
 */
export async function submitCredentials(
  request: Request,
  kind: "sign-in" | "sign-up",
): Promise<Response | RefusedForm> {
  const { auth, config } = services();
  // Otherwise another site could sign its visitors in to an attacker's account.
  if (!auth.embedded || !isSameOrigin(request, config.baseUrl)) return new Response("Forbidden", { status: 403 });
  const typed = await readForm(request);
  if (!typed) return new Response("Payload Too Large", { status: 413 });
  const { password: _password, ...values } = typed;
  try {
    const result =
      kind === "sign-in"
        ? await auth.signIn(parseInput(signInSchema, typed), request.headers)
        : await auth.signUp(parseInput(signUpSchema, typed), request.headers);
    if (!result.ok) return { values, fields: {}, message: messageOf(result) };
    const target = safeReturnPath(typed.returnTo);
    if (!result.needsSecondFactor) return redirectTo(target, result.headers, 303);
    return redirectTo(`${secondFactorPath}?returnTo=${encodeURIComponent(target)}`, result.headers, 303);
  } catch (error) {
    if (!(error instanceof TowpathError)) throw error;
    return { values, fields: error.fields, message: null };
  }
}

/** The text fields of a form; null for one that is too large. */
export async function readForm(request: Request): Promise<Record<string, string> | null> {
  if (Number(request.headers.get("content-length") ?? Number.NaN) <= maxFormBytes) {
    const form = await request.formData();
    return Object.fromEntries([...form].filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  }
  return null;
}

/** Signs out and redirects home. Null when another site may have caused the request, so that the page asks first. */
export async function signOut(request: Request): Promise<Response | null> {
  const { auth, config } = services();
  const typedByHand = request.method === "GET" && request.headers.get("sec-fetch-site") === "none";
  const prefetched = /prefetch|prerender/i.test(request.headers.get("sec-purpose") ?? "");
  if (prefetched || !(typedByHand || isSameOrigin(request, config.baseUrl))) return null;
  const { headers, issuerUrl } = await auth.signOut(request.headers);
  if (issuerUrl === null) return redirectTo("/", headers, 303);
  return request.method === "GET" ? redirectTo(issuerUrl, headers, 303) : continueAt(issuerUrl, headers);
}

/** For forms: browsers apply `form-action 'self'` also to their redirects, and the issuer is another site. */
function continueAt(url: string, from: Headers): Response {
  const href = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${href}"><title>Signing out</title><a href="${href}">Continue</a>`;
  const headers = new Headers({ "content-type": "text/html; charset=utf-8" });
  for (const cookie of from.getSetCookie()) headers.append("set-cookie", cookie);
  return new Response(page, { headers });
}
