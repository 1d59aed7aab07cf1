import type { AddressPolicy } from "./address-policy.ts";
import { checkServerUrl, hostOf } from "./checked-connection.ts";
import { createCheckedFetch } from "./checked-fetch.ts";
import { EgressError, privateNetworkRemedy } from "./egress-error.ts";

/** What a receiver answered; `message` of a failure is safe to show to the person who named the address. */
type WebhookAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** The beginning of the body. */
      readonly text: string;
      /** From the header `Retry-After`; null without it. */
      readonly retryAfterSeconds: number | null;
    }
  | { readonly kind: "problem"; readonly message: string };

type WebhookRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

type WebhookPoster = {
  /** What is wrong with the text of an address; null: nothing. A name is resolved when something is posted. */
  problemOf(url: string): string | null;
  /** Never rejects. */
  post(request: WebhookRequest): Promise<WebhookAnswer>;
};

const defaultTimeoutMs = 10_000;
const maxText = 500;

/**
 * Posts to addresses that tenants name, over connections that are checked each time (see `createCheckedFetch`).
 * `timeoutMs`: for connection, answer and the beginning of its body together. Redirects are answers, not followed.
 */
export function createWebhookPoster(policy: AddressPolicy, timeoutMs = defaultTimeoutMs): WebhookPoster {
  const { fetch } = createCheckedFetch(policy, undefined, { returnsRedirects: true });
  return {
    problemOf(url) {
      try {
        checkServerUrl(url, policy);
        return null;
      } catch (error) {
        return textOf(error, url, timeoutMs);
      }
    },
    async post({ url, headers, body }) {
      const late = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(url, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json", "user-agent": "Towpath-Alerts" },
          body,
          signal: late,
        });
        return {
          kind: "answered",
          status: response.status,
          text: await beginningOf(response),
          retryAfterSeconds: secondsOf(response.headers.get("retry-after")),
        };
      } catch (error) {
        return { kind: "problem", message: textOf(late.aborted ? late.reason : error, url, timeoutMs) };
      }
    },
  };
}

/** Reads no more than is kept: the rest may be endless. A body that breaks off takes nothing from the status. */
async function beginningOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      // Leaving the loop cancels the body.
      if (text.length >= maxText) break;
    }
  } catch {
    // What arrived before counts.
  }
  return text.slice(0, maxText).replaceAll("\0", "").trim();
}

/** Only the form in seconds; dates are rare. */
const secondsOf = (header: string | null): number | null =>
  header !== null && /^\d{1,6}$/.test(header) ? Number(header) : null;

function textOf(error: unknown, url: string, timeoutMs: number): string {
  const host = URL.canParse(url) ? hostOf(new URL(url)) : "The receiver";
  if (error instanceof EgressError) {
    if (error.problem === "invalid_url")
      return "Enter an https address without user name, password or fragment, such as https://example.com/hooks/1.";
    return error.problem === "address_not_allowed" ? `${error.message} ${privateNetworkRemedy}` : error.message;
  }
  if (error instanceof DOMException && error.name === "TimeoutError")
    return `${host} did not answer within ${timeoutMs / 1000} seconds.`;
  return `${host} closed the connection before it answered.`;
}
