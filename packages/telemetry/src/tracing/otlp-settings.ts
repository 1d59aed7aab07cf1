export type OtlpSettings = {
  /** Where traces are posted. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * The URL of a collector's traces, from its base URL (OpenTelemetry, "OTLP Exporter", "Endpoint URLs for OTLP/HTTP");
 * null without one.
 *
 * @throws Error that says what it must be
 */
export function parseOtlpEndpoint(text: string): URL | null {
  if (text === "") return null;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Error("must be the base URL of a collector, such as http://localhost:4318");
  }
  const url = new URL(text);
  if (!url.pathname.endsWith("/v1/traces")) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url;
}

/**
 * Headers in OpenTelemetry's notation: `name=value,other=value`, values percent-encoded.
 *
 * @throws Error that says what is wrong, without the value
 */
export function parseOtlpHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of text.split(",").filter((each) => each.trim() !== "")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim().toLowerCase();
    if (at < 1 || !/^[a-z0-9!#$&'*+.^_`|~-]+$/.test(name)) {
      throw new Error("must be name=value pairs, separated by commas");
    }
    try {
      headers[name] = decodeURIComponent(pair.slice(at + 1).trim());
    } catch {
      throw new Error(`the value of ${name} is not percent-encoded`);
    }
    if (/[^\t\x20-\x7e]/.test(headers[name]))
      throw new Error(`the value of ${name} has characters that no header may have`);
  }
  return headers;
}
