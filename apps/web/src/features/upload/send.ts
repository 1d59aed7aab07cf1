import { type ErrorCode, TowpathError } from "@towpath/core/errors";

/**
 * Sends a body with progress, which `fetch` doesn't report for what it sends. Returns the JSON of the answer.
 *
 * @throws TowpathError as the server answered, `upstream_unavailable` for a broken connection; DOMException `AbortError`
 */
export function send(
  url: string,
  body: Blob,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (sentBytes: number) => void },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.responseType = "json";
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () =>
      request.status < 400 ? resolve(request.response) : reject(refusalOf(request.response, request.status));
    request.onerror = () => reject(new TowpathError("upstream_unavailable", "The connection broke. Try again."));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(body);
  });
}

type Refusal = { readonly error?: { readonly code: ErrorCode; readonly message: string; readonly fields: object } };

/** A proxy in front of the dashboard answers without our JSON. */
function refusalOf(answer: Refusal | null, status: number): TowpathError {
  const error = answer?.error;
  if (error) return new TowpathError(error.code, error.message, { fields: { ...error.fields } });
  const isTooLarge = status === 413;
  return new TowpathError(
    isTooLarge ? "invalid_input" : "upstream_unavailable",
    isTooLarge
      ? "A proxy in front of Towpath refuses uploads of this size. Ask the operator to raise its limit."
      : `The upload was answered with HTTP ${status}. Try again.`,
  );
}
