import { plain } from "../terminal/terminal.ts";

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no host of this name",
  EAI_AGAIN: "its name can't be looked up; is the network there?",
  ENETUNREACH: "the network doesn't lead there",
  EHOSTUNREACH: "the network doesn't lead there",
  ETIMEDOUT: "it took too long",
  UND_ERR_CONNECT_TIMEOUT: "it took too long",
  UND_ERR_HEADERS_TIMEOUT: "it took too long",
  ECONNRESET: "the connection broke off",
  EPIPE: "the connection broke off",
  UND_ERR_SOCKET: "the connection broke off",
  ERR_SSL_WRONG_VERSION_NUMBER: "it speaks no TLS",
};

/** Why `fetch` got no answer. Its own message is only "fetch failed". */
export function networkCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return `its certificate is not trusted here (${code}); name that of its authority in NODE_EXTRA_CA_CERTS`;
  }
  return causes[code] ?? (cause instanceof Error ? cause.message : String(cause));
}

/** The error for an answer that no instance gives: another program's, or a proxy's whose instance is unreachable. */
export function foreignAnswer(url: string, response: Response, text: string): string {
  const type = response.headers.get("content-type") ?? "";
  const body = type.startsWith("text/plain") && text.trim() !== "" ? `: ${plain(text.trim().slice(0, 200))}` : "";
  return `${url} answered with HTTP ${response.status}${body}. Is a Towpath instance there?`;
}
