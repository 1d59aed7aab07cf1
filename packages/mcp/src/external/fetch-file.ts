import { type AddressPolicy, createCheckedFetch, EgressError, type ResolveName } from "@towpath/egress";

type FetchFileOptions = {
  readonly policy: AddressPolicy;
  readonly maxBytes: number;
  readonly timeoutMs?: number;
  /** For tests. */
  readonly resolve?: ResolveName;
};

const defaultTimeoutMs = 5_000;

/**
 * A small file that a server names, such as its icon: only from addresses that the policy allows, without redirects,
 * cookies or credentials, and bounded in time and size.
 *
 * @throws EgressError, with a message for the server's owner
 */
export async function fetchFile(url: string, options: FetchFileOptions): Promise<Buffer> {
  const { policy, maxBytes, timeoutMs = defaultTimeoutMs } = options;
  const network = createCheckedFetch(policy, options.resolve);
  const host = URL.canParse(url) ? new URL(url).host : "The host";
  try {
    const response = await network.fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new EgressError("status", `${host} answered with HTTP ${response.status}.`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > maxBytes) throw new EgressError("too_large", `The file at ${host} is larger than ${maxBytes} bytes.`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof EgressError) throw error;
    if (error instanceof Error && error.name === "TimeoutError")
      throw new EgressError("timeout", `${host} did not answer within ${timeoutMs / 1000} seconds.`, error);
    throw new EgressError("unreachable", `Could not read the file from ${host}.`, error);
  } finally {
    await network.close().catch(() => {});
  }
}
