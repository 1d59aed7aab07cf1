import { safeReturnPath, signInProblemPath } from "@towpath/auth";
import { services } from "~/compose.server.ts";

/** Sends the browser to the sign-in provider; whoever is signed in already goes straight to where they wanted. */
export async function redirectToProvider(request: Request, options: { readonly signUp: boolean }): Promise<Response> {
  const { auth } = services();
  const returnPath = safeReturnPath(new URL(request.url).searchParams.get("returnTo"));
  if (await auth.session(request.headers)) return redirectTo(returnPath);
  const started = await auth.start({ returnPath, signUp: options.signUp, headers: request.headers });
  if (started.kind === "redirect") return redirectTo(started.location, started.headers);
  const error = started.kind === "too_many_attempts" ? "too_many_attempts" : "provider_unreachable";
  return redirectTo(`${signInProblemPath}?error=${error}`);
}

/** Where the embedded provider's pages lead while an issuer signs people in; null while they are in use themselves. */
export function elsewhere(page: "sign-in" | "sign-up"): Response | null {
  return services().auth.embedded ? null : redirectTo(page === "sign-in" ? "/login" : "/signup");
}

/** A redirect that also passes on cookies. 303: the browser goes on with GET whatever it came with. */
export function redirectTo(location: string, from: Headers = new Headers(), status: 302 | 303 = 302): Response {
  const headers = new Headers({ location, "cache-control": "private, no-store" });
  for (const cookie of from.getSetCookie()) headers.append("set-cookie", cookie);
  return new Response(null, { status, headers });
}
