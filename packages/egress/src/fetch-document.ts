import { lookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { EgressError } from "./egress-error.ts";
import { isLoopbackAddress, isPublicAddress } from "./public-address.ts";

export type FetchDocumentOptions = {
  readonly maxBytes?: number;
  /** For the whole fetch, including the resolution of the name. */
  readonly timeoutMs?: number;
  /** Also http, and hosts on this machine. For tests and instances that run only locally. */
  readonly allowLoopback?: boolean;
  /** All addresses of a name. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
};

const resolveByDns = async (hostname: string) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

/**
 * Fetches a JSON document from a third-party URL, which must not reach services that only this machine can: the name is
 * resolved once, every address must be public, the connection goes to the checked address, redirects are refused, and
 * size and time are bounded.
 *
 * @returns the parsed JSON
 *
 * @throws EgressError
 */
export async function fetchDocument(url: string, options: FetchDocumentOptions = {}): Promise<unknown> {
  const { timeoutMs = 5000, maxBytes = 64 * 1024 } = options;
  const target = parseTarget(url, options.allowLoopback ?? false);
  const deadline = AbortSignal.timeout(timeoutMs);
  const late = new Promise<never>((_resolve, reject) => {
    deadline.addEventListener("abort", () => reject(deadline.reason));
  });
  late.catch(() => {});
  try {
    const address = await Promise.race([checkedAddress(target, options), late]);
    const response = await send(target, address, deadline);
    return parse(await readBody(response, maxBytes));
  } catch (error) {
    if (error instanceof EgressError) throw error;
    if (deadline.aborted) {
      throw new EgressError("timeout", `${target.host} did not answer within ${timeoutMs / 1000} seconds.`, error);
    }
    throw new EgressError("unreachable", `Could not connect to ${target.host}.`, error);
  }
}

function parseTarget(url: string, allowLoopback: boolean): URL {
  const target = URL.canParse(url) ? new URL(url) : null;
  const protocols = allowLoopback ? ["https:", "http:"] : ["https:"];
  if (target && protocols.includes(target.protocol) && !target.username && !target.password) return target;
  throw new EgressError("invalid_url", "The document's address must be an https URL without a user name.");
}

/** The one address to connect to. Refuses names with any forbidden address. */
async function checkedAddress(target: URL, { allowLoopback = false, resolve = resolveByDns }: FetchDocumentOptions) {
  const hostname = target.hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(hostname) ? [hostname] : await resolve(hostname).catch(nameNotFound(hostname));
  const [address] = addresses;
  if (address === undefined) return nameNotFound(hostname)(undefined);
  const isLocal = allowLoopback && addresses.every(isLoopbackAddress);
  if (isLocal || (target.protocol === "https:" && addresses.every(isPublicAddress))) return address;
  throw new EgressError("address_not_allowed", `${hostname} is not a host on the public internet.`);
}

const nameNotFound =
  (hostname: string) =>
  (cause: unknown): never => {
    throw new EgressError("name_not_found", `There is no host named ${hostname}.`, cause);
  };

/** Connects to `address`; the certificate and the Host header are those of the URL's name. */
function send(target: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    const hostname = target.hostname.replace(/^\[|\]$/g, "");
    const send = target.protocol === "https:" ? httpsRequest : httpRequest;
    send(
      {
        host: address,
        port: target.port || (target.protocol === "https:" ? 443 : 80),
        path: `${target.pathname}${target.search}`,
        headers: { host: target.host, accept: "application/json", "user-agent": "towpath" },
        agent: false,
        signal,
        ...(target.protocol === "https:" && !isIP(hostname) ? { servername: hostname } : {}),
      },
      done,
    )
      .on("error", fail)
      .end();
  });
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  const status = response.statusCode ?? 0;
  try {
    if (status >= 300 && status < 400) {
      throw new EgressError("redirect", "The document's address redirects, which is not allowed.");
    }
    if (status !== 200) throw new EgressError("status", `The document's address answered with HTTP ${status}.`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new EgressError("too_large", `The document is larger than ${maxBytes} bytes.`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    response.destroy();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new EgressError("not_json", "The document is not JSON.", error);
  }
}
