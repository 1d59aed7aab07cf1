import type { AuthConfig, betterAuthFor } from "./auth.ts";
import { signInProblemPath } from "./auth.ts";
import { type OidcSettings, oidcCallbackPath, oidcProviderId } from "./oidc.ts";

type BetterAuth = ReturnType<typeof betterAuthFor>;

/** Where `/login` and `/signup` go, with the cookies that the round trip needs. */
export type SignInStart = { readonly location: string; readonly headers: Headers };

/**
 * Sends the browser to the provider (AUTH-1): to the issuer's authorize URL, or to the embedded provider's pages.
 * `returnPath` must have passed `safeReturnPath`. Null when the issuer cannot be asked for its endpoints right now.
 */
export async function startSignIn(
  auth: BetterAuth,
  config: Pick<AuthConfig, "oidc" | "baseUrl">,
  call: { readonly returnPath: string; readonly signUp: boolean; readonly headers: Headers },
): Promise<SignInStart | null> {
  if (config.oidc === null) {
    const page = call.signUp ? "/provider/sign-up" : "/provider/sign-in";
    const query = call.returnPath === "/" ? "" : `?returnTo=${encodeURIComponent(call.returnPath)}`;
    return { location: `${page}${query}`, headers: new Headers() };
  }
  return startAtIssuer(auth, config.oidc, config.baseUrl, call);
}

async function startAtIssuer(
  auth: BetterAuth,
  oidc: OidcSettings,
  baseUrl: string,
  call: { readonly returnPath: string; readonly headers: Headers },
): Promise<SignInStart | null> {
  const provider = oidcProviderId(oidc.issuer);
  const { socialProviders } = await auth.$context;
  if (!socialProviders.some((known) => known.id === provider)) return null;
  const { response, headers } = await auth.api.signInSocial({
    body: {
      provider,
      callbackURL: `${baseUrl}${call.returnPath}`,
      errorCallbackURL: `${baseUrl}${signInProblemPath}`,
      disableRedirect: true,
    },
    headers: call.headers,
    returnHeaders: true,
  });
  return response.url ? { location: response.url, headers } : null;
}

/** Hands the issuer's answer, which comes to one constant address, to the provider it belongs to. */
export function oidcCallbackRequest(oidc: OidcSettings, request: Request): Request {
  const url = new URL(request.url);
  url.pathname = url.pathname.replace(oidcCallbackPath, `/api/auth/callback/${oidcProviderId(oidc.issuer)}`);
  return new Request(url, { method: "GET", headers: request.headers });
}
