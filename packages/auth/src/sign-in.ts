import type { AuthConfig, betterAuthFor } from "./auth.ts";
import { signInProblemPath } from "./auth.ts";
import { type OidcSettings, oidcCallbackPath, oidcProviderId } from "./oidc.ts";

type BetterAuth = ReturnType<typeof betterAuthFor>;

/** Where `/login` and `/signup` go, with the cookies that the round trip needs; or why not. */
export type SignInStart =
  | { readonly kind: "redirect"; readonly location: string; readonly headers: Headers }
  | { readonly kind: "issuer_unreachable" }
  | { readonly kind: "too_many_attempts" };

/** Calls an endpoint of better-auth as an outside request would, rate limits included. */
type Post = (path: string, body: unknown, headers: Headers) => Promise<Response>;

/**
 * Sends the browser to the provider (AUTH-1): to the issuer's authorize URL, or to the embedded provider's pages.
 * `returnPath` must have passed `safeReturnPath`.
 */
export async function startSignIn(
  auth: BetterAuth,
  config: Pick<AuthConfig, "oidc" | "baseUrl">,
  call: { readonly returnPath: string; readonly signUp: boolean; readonly headers: Headers },
  post: Post,
): Promise<SignInStart> {
  if (config.oidc === null) {
    const page = call.signUp ? "/provider/sign-up" : "/provider/sign-in";
    const query = call.returnPath === "/" ? "" : `?returnTo=${encodeURIComponent(call.returnPath)}`;
    return { kind: "redirect", location: `${page}${query}`, headers: new Headers() };
  }
  return startAtIssuer(auth, config.oidc, config.baseUrl, call, post);
}

async function startAtIssuer(
  auth: BetterAuth,
  oidc: OidcSettings,
  baseUrl: string,
  call: { readonly returnPath: string; readonly headers: Headers },
  post: Post,
): Promise<SignInStart> {
  const provider = oidcProviderId(oidc.issuer);
  const { socialProviders } = await auth.$context;
  if (!socialProviders.some((known) => known.id === provider)) return { kind: "issuer_unreachable" };
  const body = {
    provider,
    callbackURL: `${baseUrl}${call.returnPath}`,
    errorCallbackURL: `${baseUrl}${signInProblemPath}`,
    disableRedirect: true,
  };
  const response = await post("/sign-in/social", body, call.headers);
  if (response.status === 429) return { kind: "too_many_attempts" };
  const answer: unknown = response.ok ? await response.json().catch(() => null) : null;
  const location = typeof answer === "object" && answer !== null && "url" in answer ? answer.url : null;
  if (typeof location !== "string") return { kind: "issuer_unreachable" };
  return { kind: "redirect", location, headers: response.headers };
}

/** Hands the issuer's answer, which comes to one constant address, to the provider it belongs to. */
export function oidcCallbackRequest(oidc: OidcSettings, request: Request): Request {
  const url = new URL(request.url);
  url.pathname = url.pathname.replace(oidcCallbackPath, `/api/auth/callback/${oidcProviderId(oidc.issuer)}`);
  return new Request(url, { method: "GET", headers: request.headers });
}
