/** None of our links is longer. */
const maxLength = 2048;

/**
 * The path to go to after sign-in, or `/` if the given one could lead to another site (AUTH-1). Accepts an absolute
 * path with query and fragment. Rejects other origins in every spelling that a browser accepts (`//host`, `/\host`,
 * `https:`, tabs and line breaks inside, percent-encoded slashes and backslashes in front), and the sign-in pages,
 * which would loop.
 */
export function safeReturnPath(value: unknown): string {
  if (typeof value !== "string" || value.length > maxLength || !value.startsWith("/")) return "/";
  // Our links encode a space as %20.
  if (value.includes(" ") || hasUnsafeCharacters(value)) return "/";
  const path = parsedPath(value);
  if (path === null || leavesSite(path) || returnsToSignIn(path)) return "/";
  return path;
}

/** Browsers strip some of these and treat `\` as `/`, so that the path would differ from what we checked. */
function hasUnsafeCharacters(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
  return /[\u0000-\u001f\u007f-\u009f\\\u2028\u2029]/.test(value);
}

/** Resolved as a browser does, without dot segments. Null when it leads to another origin or is malformed. */
function parsedPath(value: string): string | null {
  const base = "http://return-path.invalid";
  if (!URL.canParse(value, base)) return null;
  const url = new URL(value, base);
  return url.origin === base ? `${url.pathname}${url.search}${url.hash}` : null;
}

/** Decodes repeatedly, because a proxy or browser may decode once more than we expect. */
function leavesSite(path: string): boolean {
  let current = path;
  for (let round = 0; round < 5; round++) {
    if (/^[/\\]{2}/.test(current) || hasUnsafeCharacters(current.split(/[?#]/, 1)[0] ?? "")) return true;
    const next = decodedStart(current);
    if (next === current) return false;
    current = next;
  }
  return true;
}

function decodedStart(path: string): string {
  const end = path.search(/[?#]/);
  const start = end === -1 ? path : path.slice(0, end);
  try {
    return decodeURIComponent(start) + path.slice(start.length);
  } catch {
    return path;
  }
}

function returnsToSignIn(path: string): boolean {
  return /^\/(login|signup|logout|provider)(\/|\?|#|$)/i.test(path);
}
