/**
 * Whether a request was made by one of our own pages. Browsers say where a request comes from; one that says nothing
 * is refused, because what is guarded here changes something for whoever holds the cookie.
 */
export function isSameOrigin(request: Request, baseUrl: string): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = request.headers.get("origin");
  return origin !== null && origin === baseUrl;
}
