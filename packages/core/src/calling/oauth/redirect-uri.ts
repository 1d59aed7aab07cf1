const maxLength = 2000;
/** Tried once a row of slashes, so long addresses take no longer than their length. */
const trailingSlashes = /(?<!\/)\/+$/;
const loopbackHosts: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Schemes that browsers and systems handle themselves, so that no client receives the response. */
const systemSchemes: ReadonlySet<string> = new Set(
  [
    // Browsers: documents, scripts, what they show of themselves.
    "about",
    "blob",
    "brave",
    "cid",
    "chrome",
    "chrome-untrusted",
    "content",
    "data",
    "devtools",
    "edge",
    "file",
    "filesystem",
    "ftp",
    "ftps",
    "jar",
    "javascript",
    "livescript",
    "mocha",
    "moz-icon",
    "opera",
    "resource",
    "vbscript",
    "view-source",
    "vivaldi",
    "wss",
    "ws",
    "wyciwyg",
    // Other machines, without TLS or with the credentials of the user.
    "afp",
    "cifs",
    "dav",
    "davs",
    "dict",
    "git",
    "gopher",
    "gophers",
    "imap",
    "imaps",
    "irc",
    "ircs",
    "ldap",
    "ldapi",
    "ldaps",
    "nfs",
    "news",
    "nntp",
    "pop",
    "rdp",
    "rlogin",
    "rsync",
    "rtsp",
    "scp",
    "sftp",
    "smb",
    "ssh",
    "svn",
    "telnet",
    "tftp",
    "tn3270",
    "vnc",
    "webdav",
    "webdavs",
    // Windows: help, search, the shell and its parts, installers.
    "hcp",
    "its",
    "mhtml",
    "mk",
    "mmst",
    "read",
    "res",
    "shell",
    "search",
    "windowsdefender",
    "bingmaps",
    "calculator",
    "microsoft-edge",
    "msteams-link",
    "odopen",
    "onenote",
    "onenote-cmd",
    "outlookfeed",
    "wmplayer",
    "xbox",
    // macOS and iOS: the Terminal's manual pages, scripts, settings, installation of apps and calendars.
    "addressbook",
    "app-prefs",
    "app-settings",
    "applefeedback",
    "applescript",
    "calshow",
    "facetime",
    "facetime-audio",
    "feed",
    "feeds",
    "help",
    "iapps",
    "ibooks",
    "ical",
    "icloud-sharing",
    "macappstore",
    "macappstores",
    "message",
    "music",
    "musics",
    "pcast",
    "photos",
    "podcast",
    "podcasts",
    "prefs",
    "shortcuts",
    "videos",
    "webcal",
    "webcals",
    "x-apple",
    "x-help-action",
    "x-help-script",
    "x-man-page",
    "x-radar",
    "x-web-search",
    // Android.
    "android-app",
    "intent",
    "market",
    "package",
    // Linux desktops: packages, settings, virtual file systems.
    "admin",
    "appstream",
    "apt",
    "burn",
    "computer",
    "flatpak",
    "flatpak+https",
    "ghelp",
    "gnome-extensions",
    "info",
    "man",
    "mtp",
    "network",
    "recent",
    "snap",
    "starred",
    "trash",
    // Calls, messages and places.
    "bitcoin",
    "callto",
    "geo",
    "im",
    "imessage",
    "magnet",
    "mailto",
    "maps",
    "mms",
    "sip",
    "sips",
    "sms",
    "smsto",
    "tel",
    "xmpp",
  ].map((name) => `${name}:`),
);
/** Parts of Windows, such as its troubleshooter `ms-msdt:`, but for apps (`ms-appx-web:`); of Apple's systems. */
const systemFamilies =
  /^(ms-(?!appx)|microsoft\.|search-|windows\.|windows-|x-apple[.-]|com\.apple\.|itmss?[-:]|chrome-search|afp\+|web\+)/;

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
  if (systemFamilies.test(url.protocol) || systemSchemes.has(url.protocol)) return false;
  return uri.toLowerCase().startsWith(`${url.protocol}/`);
}

/** Whether the response goes to a program on the user's own machine. */
export function isLoopbackRedirect(uri: string): boolean {
  const url = URL.canParse(uri) ? new URL(uri) : null;
  return url?.protocol === "http:" && loopbackHosts.includes(url.hostname);
}

/**
 * Exact comparison; only the port of a loopback address may differ (RFC 8252, section 7.3). What an earlier release let
 * a client register, and is not allowed any more, doesn't count.
 */
export function isRegisteredRedirectUri(registered: readonly string[], given: string): boolean {
  if (!isAllowedRedirectUri(given)) return false;
  if (registered.includes(given)) return true;
  const portless = withoutLoopbackPort(given);
  return portless !== null && registered.some((uri) => withoutLoopbackPort(uri) === portless);
}

/**
 * Whether an address leads to the same path of the user's own machine as a registered one: `localhost`, `127.0.0.1` and
 * `[::1]` are one, and so are paths with and without a slash at the end. It then leads to nobody else.
 */
export function isLoopbackAlias(registered: readonly string[], given: string): boolean {
  if (!isAllowedRedirectUri(given) || !isLoopbackRedirect(given)) return false;
  const address = returnAddressOf(given);
  return registered.some((uri) => isLoopbackRedirect(uri) && returnAddressOf(uri) === address);
}

/** A redirect URI without what may differ from one sign-in to the next: on the user's machine, port and form of the host. */
export function returnAddressOf(uri: string): string {
  if (!isLoopbackRedirect(uri)) return uri;
  const { pathname, search } = new URL(uri);
  return `http://localhost${pathname.replace(trailingSlashes, "")}${search}`;
}

/** How a redirect URI differs from the registered one that is most like it. */
export function redirectDifference(registered: readonly string[], given: string): string {
  const shown = (uri: string) => uri.slice(0, 200);
  const hostOf = (uri: string) => (URL.canParse(uri) ? new URL(uri).hostname : "");
  const likeness = (uri: string) => {
    const differsAt = [...uri].findIndex((each, at) => each !== given[at]);
    return (hostOf(uri) === hostOf(given) ? maxLength : 0) + (differsAt === -1 ? uri.length : differsAt);
  };
  const closest = registered.toSorted((one, other) => likeness(other) - likeness(one))[0] ?? "";
  const both = `It registered ${shown(closest)} and asked for ${shown(given)}`;
  if (!URL.canParse(closest) || !URL.canParse(given)) return `${both}.`;
  const [one, other] = [new URL(closest), new URL(given)];
  if (one.protocol !== other.protocol) return `${both}: the scheme differs.`;
  if (one.hostname !== other.hostname) return `${both}: the host differs.`;
  if (one.port !== other.port) return `${both}: the port differs.`;
  if (one.pathname.replace(trailingSlashes, "") !== other.pathname.replace(trailingSlashes, ""))
    return `${both}: the path differs.`;
  if (one.pathname !== other.pathname) return `${both}: the slash at the end differs.`;
  return one.search === other.search ? `${both}.` : `${both}: the query differs.`;
}

function withoutLoopbackPort(uri: string): string | null {
  if (!isLoopbackRedirect(uri)) return null;
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
