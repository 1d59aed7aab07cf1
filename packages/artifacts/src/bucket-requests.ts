import { setTimeout as sleep } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import type { BucketConfig } from "./config.ts";
import { ArtifactError } from "./port.ts";

type Method = "GET" | "HEAD" | "PUT" | "POST" | "DELETE";

/** A request that got no answer (`status` null) or was refused. */
export class BucketRefusal extends ArtifactError {
  readonly status: number | null;
  /** The service's word for it, such as AccessDenied; empty where it says none. */
  readonly reason: string;

  constructor(message: string, status: number | null, reason: string, options?: ErrorOptions) {
    super("unavailable", message, options);
    this.status = status;
    this.reason = reason;
  }
}

/** Signed requests to a bucket. */
export type BucketRequests = {
  /** Address of an object, or of the bucket itself with an empty key. */
  url(key: string, query?: Readonly<Record<string, string>>): string;
  /** The response: success, or that there is no such thing. @throws BucketRefusal */
  ask(method: Method, url: string, init?: RequestInit): Promise<Response>;
  /** The same for requests without a large body in either direction: limited to half a minute. */
  askShortly(method: Method, url: string, init?: RequestInit): Promise<Response>;
  /** Signs the address itself, for one request with these headers. */
  sign(method: "GET" | "PUT", url: string, headers: Readonly<Record<string, string>>): Promise<string>;
  problem(method: Method, what: string, cause?: unknown): BucketRefusal;
};

const shortMs = 30_000;

/** Services refuse requests whose time differs by more, all for the same reason. */
const maxSkewMs = 5 * 60_000;

/** `name`: what errors call the bucket. */
export function createBucketRequests(config: BucketConfig, name: string): BucketRequests {
  const { accessKeyId, secretAccessKey, region } = config;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 4 });
  const refusal = (method: Method, what: string, status: number | null, reason: string, cause?: unknown) =>
    new BucketRefusal(`The ${name} failed to answer a ${method} request: ${what}.`, status, reason, { cause });

  const requests: BucketRequests = {
    url: (key, query = {}) => {
      const search = new URLSearchParams(query).toString();
      return `${config.url}/${key}${search === "" ? "" : `?${search}`}`;
    },
    problem: (method, what, cause) => refusal(method, what, null, "", cause),

    async ask(method, url, init = {}) {
      const send = () => client.fetch(url, { method, ...init });
      // Retried once: the service may have closed the connection just when it was reused.
      const response = await send()
        .catch(send)
        .catch((error: unknown) => {
          throw refusal(method, "got no answer", null, "", error);
        });
      if (response.ok || response.status === 404) return response;
      const reason = textOf(await response.text().catch(() => ""), "Code")[0] ?? "";
      const what = [`${response.status} ${reason}`.trim(), skewOf(response)].filter((each) => each !== null);
      throw refusal(method, what.join(": "), response.status, reason);
    },
    askShortly: (method, url, init) => requests.ask(method, url, { ...init, signal: AbortSignal.timeout(shortMs) }),
    sign: async (method, url, headers) => (await client.sign(url, { method, headers, aws: { signQuery: true } })).url,
  };
  return requests;
}

/** How far this host's clock is off, where that is why a request was refused; else null. */
function skewOf({ status, headers }: Response): string | null {
  const skewMs = Date.now() - Date.parse(headers.get("date") ?? "");
  if (status !== 403 || !(Math.abs(skewMs) > maxSkewMs)) return null;
  const minutes = Math.round(Math.abs(skewMs) / 60_000);
  const direction = skewMs > 0 ? "ahead of" : "behind";
  return `the clock of this host is ${minutes} minutes ${direction} the service's, so set it, for example by NTP`;
}

/** Tries again after each pause while the reason may pass: no answer, or one that names no fault of the request. */
export async function retried<Result>(pausesMs: readonly number[], attempt: () => Promise<Result>): Promise<Result> {
  for (const pauseMs of pausesMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTemporary(error)) throw error;
    }
    await sleep(pauseMs);
  }
  return attempt();
}

// 400 RequestTimeout: the body came too slowly.
const isTemporary = (error: unknown) =>
  error instanceof BucketRefusal &&
  (error.status === null || error.status >= 500 || error.status === 429 || error.reason === "RequestTimeout");

/** Texts of all elements with this name that contain no others; the requested ones have no escapes. */
export const textOf = (xml: string, name: string): string[] =>
  xml
    .split(`<${name}>`)
    .slice(1)
    .map((rest) => rest.slice(0, Math.max(rest.indexOf("<"), 0)));

/** What is in all elements with this name, which are not nested. */
export const contentOf = (xml: string, name: string): string[] =>
  xml
    .split(`<${name}>`)
    .slice(1)
    .map((rest) => rest.slice(0, Math.max(rest.indexOf(`</${name}>`), 0)));
