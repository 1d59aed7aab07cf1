import { useRef, useState } from "react";
import type { Picked } from "./picked.ts";
import { send } from "./send.ts";

/** Of packing or sending, 0 to 1; sent in full, the server unpacks and commits. */
export type UploadProgress = { readonly phase: "packing" | "sending"; readonly done: number };

/**
 * Packs what was picked and sends it. `before`: what the body has before the archive.
 *
 * `upload` throws what `packFolder` and `send` throw; a canceled one a DOMException `AbortError`.
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

/** Whether an upload ended because somebody canceled it. */
export const isCanceled = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";
