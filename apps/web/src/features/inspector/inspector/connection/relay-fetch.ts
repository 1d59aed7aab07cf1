import { authorizationHeader, refusalHeader } from "./relay.schema.ts";

/** An HTTP response outside of MCP: its row of the request log, and its error. */
export type AnswerInfo = {
  readonly requestId: string | null;
  readonly isCall: boolean;
  readonly failure: Failure | null;
};
type Failure = { readonly message: string; readonly isOurs: boolean };

const isCallOf = (body: unknown) => typeof body === "string" && /"method":"(tools|resources|prompts)\//.test(body);

/** `fetch` for the MCP client in a page. `authorization`: the person's own credentials for a passthrough server. */
export function relayFetch(parts: {
  readonly authorization: () => string | null;
  readonly onAnswer: (answer: AnswerInfo) => void;
}): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    const authorization = parts.authorization();
    if (authorization) headers.set(authorizationHeader, authorization);
    const response = await fetch(url, { ...init, headers });
    const isPost = init?.method === "POST";
    if (isPost) {
      parts.onAnswer({
        requestId: response.headers.get("towpath-request-id"),
        isCall: isCallOf(init.body),
        failure: response.ok ? null : await failureOf(response),
      });
    }
    return response;
  };
}

async function failureOf(response: Response): Promise<Failure | null> {
  if (!response.headers.get("content-type")?.includes("json")) return null;
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { readonly error?: { readonly message?: unknown } } | null;
  const message = body?.error?.message;
  return typeof message === "string" ? { message, isOurs: response.headers.has(refusalHeader) } : null;
}
