const maxLength = 2000;
const loopbackHosts: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Schemes that browsers and systems handle themselves, so that no client receives the response. */
const systemSchemes: ReadonlySet<string> = new Set(
  "about: blob: chrome: data: file: filesystem: ftp: ftps: intent: javascript: mailto: ms-its: resource: sms: tel: vbscript: view-source: ws: wss:".split(
    " ",
  ),
);

/**
 * Whether a client may have this redirect URI: https; http on this machine only (RFC 8252, section 7.3); or a scheme of
 * its own (section 7.1), such as `cursor://`. Never with a fragment or credentials.
 */
export function isAllowedRedirectUri(uri: string): boolean {
  const url = uri.length <= maxLength && URL.canParse(uri) ? new URL(uri) : null;
  // Browsers strip control characters and spaces, so that the address would differ from the one checked.
  if (!url || /[^!-~]/.test(uri) || uri.includes("#") || url.username || url.password) return false;
  if (url.protocol === "https:") return true;
  if (url.protocol === "http:") return loopbackHosts.includes(url.hostname);
  // Windows starts parts of itself by schemes of these names, such as its troubleshooter with `ms-msdt:`.
  if (/^(ms-(?!appx)|search-)/.test(url.protocol)) return false;
  return !systemSchemes.has(url.protocol) && uri.toLowerCase().startsWith(`${url.protocol}/`);
}

/** Whether the response goes to a program on the user's own machine. */
export function isLoopbackRedirect(uri: string): boolean {
  const url = URL.canParse(uri) ? new URL(uri) : null;
  return url?.protocol === "http:" && loopbackHosts.includes(url.hostname);
}

/** Exact comparison; only the port of a loopback address may differ (RFC 8252, section 7.3). */
export function isRegisteredRedirectUri(registered: readonly string[], given: string): boolean {
  if (registered.includes(given)) return true;
  const portless = withoutLoopbackPort(given);
  return portless !== null && registered.some((uri) => withoutLoopbackPort(uri) === portless);
}

function withoutLoopbackPort(uri: string): string | null {
  if (!isAllowedRedirectUri(uri) || !isLoopbackRedirect(uri)) return null;
  return uri.replace(/^(http:\/\/(?:\[::1\]|[^:/?]+)):\d+(?=[/?]|$)/i, "$1");
}

/** What the consent page shows as destination: the host, or the scheme of an application. */
export function redirectHost(uri: string): string {
  const url = new URL(uri);
  return url.protocol === "https:" || url.protocol === "http:" ? url.host : `${url.protocol}//${url.host}`;
}

/** Adds the parameters of an authorization response to the redirect URI (RFC 6749, section 4.1.2). */
export function redirectLocation(uri: string, parameters: Readonly<Record<string, string | null>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value);
  return url.href;
}
