import { Button } from "~/ui/button.tsx";
import type { UploadProgress as Progress } from "./use-upload.ts";

/** How far an upload is, with a button that cancels it. */
export function UploadProgress({ progress, onCancel }: { readonly progress: Progress; readonly onCancel: () => void }) {
  const { phase, done } = progress;
  const percent = Math.floor(done * 100);
  const isSent = phase === "sending" && done === 1;
  const text = phase === "packing" ? "Packing the files" : isSent ? "Storing the files" : "Uploading";
  return (
    <div className="flex items-center gap-3">
      <div className="min-w-0 flex-1">
        <p className="mb-1 flex justify-between gap-3 text-xs text-muted">
          <span>{text}</span>
          {isSent ? null : <span className="tabular">{percent} %</span>}
        </p>
        <progress
          aria-label={text}
          max={100}
          {...(isSent ? {} : { value: percent })}
          className="h-1.5 w-full overflow-hidden rounded-full accent-accent"
        />
      </div>
      <Button size="sm" onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}
