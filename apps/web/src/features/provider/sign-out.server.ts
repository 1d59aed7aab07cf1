import { services } from "~/compose.server.ts";
import { isSameOrigin } from "~/http/same-origin.ts";
import { redirectTo } from "./redirect-to-provider.server.ts";

/** Ends the session and goes home; null when another site may have made the request: then the page asks first. */
export async function signOut(request: Request): Promise<Response | null> {
  const { auth, config } = services();
  const typedByHand = request.method === "GET" && request.headers.get("sec-fetch-site") === "none";
  const prefetched = /prefetch|prerender/i.test(request.headers.get("sec-purpose") ?? "");
  if (prefetched || !(typedByHand || isSameOrigin(request, config.baseUrl))) return null;
  return redirectTo("/", await auth.signOut(request.headers), 303);
}
