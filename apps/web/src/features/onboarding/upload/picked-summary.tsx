import { leftOutLine, secretsLine } from "@towpath/core/sources/repository/left-out/schema";
import { Archive, Folder } from "lucide-react";
import { Button } from "~/ui/button.tsx";
import { formatBytes } from "~/ui/time.tsx";
import type { Picked } from "./picked.ts";

type PickedSummaryProps = {
  readonly picked: Picked;
  readonly onChange: () => void;
  readonly disabled: boolean;
  /** For a new version, which replaces all files. */
  readonly isWhole?: boolean;
};

/** The files to upload, and those left out. */
export function PickedSummary({ picked, onChange, disabled, isWhole = false }: PickedSummaryProps) {
  const leftOut = picked.kind === "folder" ? picked.leftOut : [];
  const [line, secrets] = [leftOutLine(leftOut), secretsLine(leftOut)];
  const count = picked.kind === "folder" ? picked.files.length : null;
  return (
    <section aria-label="To upload" className="rounded-lg border bg-surface px-4 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {picked.kind === "folder" ? (
          <Folder className="size-4 shrink-0 text-accent-text" />
        ) : (
          <Archive className="size-4 shrink-0 text-accent-text" />
        )}
        <p className="min-w-0 flex-1 text-sm font-medium wrap-anywhere">
          {picked.kind === "archive" ? picked.file.name : picked.name || "Files"}
        </p>
        <Button variant="link" size="inline" className="text-sm" disabled={disabled} onClick={onChange}>
          Choose another
        </Button>
      </div>
      <p className="mt-0.5 text-xs text-muted wrap-anywhere">
        {count === null ? "" : count === 1 ? "1 file, " : `${count} files, `}
        {formatBytes(picked.bytes)}
        {line === null ? "" : `. ${line}`}
      </p>
      {isWhole ? (
        <p className="mt-1.5 text-xs text-muted">It replaces all files: what isn't here won't be in the new version.</p>
      ) : null}
      {secrets === null ? null : <p className="mt-1.5 text-xs text-warn wrap-anywhere">{secrets}</p>}
    </section>
  );
}
