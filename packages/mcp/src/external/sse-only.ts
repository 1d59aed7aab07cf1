import type { CheckedFetch } from "@towpath/egress";

const maxBytes = 4096;

/**
 * Whether a server supports only the transport of the revision 2024-11-05: its event stream begins with the address to
 * which messages are posted, in an event `endpoint`.
 */
export async function isSseOnly(
  { fetch }: CheckedFetch,
  url: string,
  { headers, timeoutMs }: { readonly headers: Record<string, string>; readonly timeoutMs: number },
): Promise<boolean> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { headers: { ...headers, accept: "text/event-stream" }, signal });
    if (!response.ok || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
      await response.body?.cancel();
      return false;
    }
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (/^event: ?endpoint$/m.test(text)) return true;
      if (text.length > maxBytes) return false;
    }
    return false;
  } catch {
    return false;
  }
}
