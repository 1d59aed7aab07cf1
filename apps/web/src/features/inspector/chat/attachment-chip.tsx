import type { ChatAttachment } from "@towpath/core/calling/chat/schema";
import { FileText, MessageSquareText } from "lucide-react";
import type { ReactNode } from "react";

/** Tells attachments of a question apart. */
export const attachmentKey = (attachment: ChatAttachment): string => JSON.stringify(attachment);

/** A resource or prompt attached to a question. */
export function AttachmentChip({ attachment, children }: { attachment: ChatAttachment; children?: ReactNode }) {
  return (
    <span className="inline-flex h-6 max-w-60 items-center gap-1 rounded-md border bg-surface px-1.5 text-xs">
      {attachment.kind === "resource" ? (
        <FileText className="size-3.5 shrink-0 text-faint" />
      ) : (
        <MessageSquareText className="size-3.5 shrink-0 text-faint" />
      )}
      <span className="truncate">{attachment.name}</span>
      {children}
    </span>
  );
}
