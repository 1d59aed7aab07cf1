import { type ErrorCode, TowpathError } from "@towpath/core/errors";
import { useRef, useState } from "react";
import type { Picked } from "./picked.ts";

/** Of packing or sending, 0 to 1; sent in full, the server unpacks and commits. */
export type UploadProgress = { readonly phase: "packing" | "sending"; readonly done: number };

/**
 * Packs and sends the picked files. `before`: the part of the body before the archive.
 *
 * `upload` throws like `packFolder` and `send`; DOMException `AbortError` if canceled.
 */
export function useUpload() {
  const [progress, setProgress] = useState<UploadProgress | null>(null);
  const canceling = useRef<AbortController | null>(null);
  const upload = async (url: string, picked: Picked, before = ""): Promise<unknown> => {
    const controller = new AbortController();
    canceling.current = controller;
    const { signal } = controller;
    const show = (phase: UploadProgress["phase"], total: number) => (bytes: number) =>
      setProgress({ phase, done: total === 0 ? 1 : Math.min(1, bytes / total) });
    try {
      const archive = await pack(picked, signal, show("packing", picked.bytes));
      const body = new Blob([before, archive]);
      show("sending", body.size)(0);
      return await send(url, body, { signal, onProgress: show("sending", body.size) });
    } finally {
      canceling.current = null;
      setProgress(null);
    }
  };
  return {
    upload,
    /** Null: nothing is being uploaded. */
    progress,
    cancel: () => canceling.current?.abort(),
  };
}

async function pack(picked: Picked, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<Blob> {
  if (picked.kind === "archive") return picked.file;
  onProgress(0);
  // The packer is loaded with the first upload.
  const { packFolder } = await import("./pack.ts");
  return packFolder(picked.files, { signal, onProgress });
}

/** Whether an upload was canceled. */
export const isCanceled = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";

/**
 * Sends a body with progress, which `fetch` doesn't report for uploads. Returns the JSON of the answer.
 *
 * @throws TowpathError as the server answered, `upstream_unavailable` for a broken connection; DOMException `AbortError`
 */
function send(
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
