/**
 * Headers of a client that must not leave Towpath: its credentials, its origin, and what concerns this host. A client's
 * `towpath*` headers have already been removed.
 */
const notForOthers =
  /^(?:authorization|cookie|forwarded|host|origin|proxy-.*|referer|sec-.*|via|x-forwarded-.*|x-real-ip)$/;

/** A flat list of headers for an external server. Its credential replaces a client's header of the same name. */
export function headersForExternal(
  headers: readonly string[],
  credential: { readonly header: string; readonly value: string } | null,
): string[] {
  const sent: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    const lower = name.toLowerCase();
    if (notForOthers.test(lower) || lower === credential?.header) continue;
    sent.push(name, headers[at + 1] ?? "");
  }
  if (credential) sent.push(credential.header, credential.value);
  return sent;
}

/**
 * Headers of an external server's answer that clients may get. Others would affect Towpath's own host: cookies,
 * sign-in, CORS, policies, redirects.
 */
const forClients =
  /^(?:cache-control|content-(?:encoding|language|length|type)|date|mcp-.*|ratelimit.*|retry-after|trace(?:parent|state)|vary|x-ratelimit-.*)$/;

/** Whether a client may get this header of an external server. `name` in lower case. */
export const mayPassFromExternal = (name: string): boolean => forClients.test(name);
