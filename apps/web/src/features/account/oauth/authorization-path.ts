/** The parameters of an authorization request from the page's address: base64url of a query. Empty if invalid. */
export function parametersOf(request: string): URLSearchParams {
  try {
    return new URLSearchParams(atob(request.replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return new URLSearchParams();
  }
}

/** The path that repeats the request for one server. Always the authorization endpoint of this site. */
export function authorizationPath(parameters: URLSearchParams, resource: string): string {
  const query = new URLSearchParams(parameters);
  query.set("resource", resource);
  return `/oauth/authorize?${query}`;
}
