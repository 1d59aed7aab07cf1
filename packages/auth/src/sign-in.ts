import type { AuthConfig, betterAuthFor } from "./auth.ts";
import { signInProblemPath } from "./auth.ts";
import { type OidcSettings, oidcCallbackPath, oidcProviderId } from "./oidc.ts";

type BetterAuth = ReturnType<typeof betterAuthFor>;

/** Where `/login` and `/signup` redirect, with the cookies that sign-in needs; or why they can't. */
export type SignInStart =
  | { readonly kind: "redirect"; readonly location: string; readonly headers: Headers }
  | { readonly kind: "issuer_unreachable" }
  | { readonly kind: "too_many_attempts" };

/** Calls an endpoint of better-auth like a request from outside, with its rate limits. */
type Post = (path: string, body: unknown, headers: Headers) => Promise<Response>;

/**
 * Redirects the browser to the issuer's authorize URL, or to the embedded provider's pages (AUTH-1).
 * `returnPath` must have passed `safeReturnPath`.
 */
export async function startSignIn(
  auth: BetterAuth,
  config: Pick<AuthConfig, "oidc" | "baseUrl">,
  call: {
    readonly returnPath: string;
    readonly signUp: boolean;
    /** Filled in by the embedded provider's pages. */
    readonly email?: string | null;
    readonly headers: Headers;
  },
  post: Post,
): Promise<SignInStart> {
  if (config.oidc === null) {
    const page = call.signUp ? "/provider/sign-up" : "/provider/sign-in";
    const query = new URLSearchParams({
      ...(call.returnPath !== "/" && { returnTo: call.returnPath }),
      ...(call.email && { email: call.email }),
    });
    const location = query.size === 0 ? page : `${page}?${query}`;
    return { kind: "redirect", location, headers: new Headers() };
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
  const request = {
    provider,
    callbackURL: `${baseUrl}${call.returnPath}`,
    errorCallbackURL: `${baseUrl}${signInProblemPath}`,
    disableRedirect: true,
  };
  const response = await post("/sign-in/social", request, call.headers);
  if (response.status === 429) return { kind: "too_many_attempts" };
  const body: unknown = response.ok ? await response.json().catch(() => null) : null;
  const location = typeof body === "object" && body !== null && "url" in body ? body.url : null;
  if (typeof location !== "string") return { kind: "issuer_unreachable" };
  return { kind: "redirect", location, headers: response.headers };
}

/** Rewrites the constant callback path to that of the issuer's provider. */
export function oidcCallbackRequest(oidc: OidcSettings, request: Request): Request {
  const url = new URL(request.url);
  url.pathname = url.pathname.replace(oidcCallbackPath, `/api/auth/callback/${oidcProviderId(oidc.issuer)}`);
  return new Request(url, { method: "GET", headers: request.headers });
}
