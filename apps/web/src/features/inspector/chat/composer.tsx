import type { ChatAttachment } from "@towpath/core/calling/chat/schema";
import type { Manifest } from "@towpath/mcp/manifest";
import { ArrowUp, Square, X } from "lucide-react";
import { type ReactNode, type RefObject, useLayoutEffect, useState } from "react";
import { Button, PlainButton } from "~/ui/button.tsx";
import { useEarlyText } from "~/ui/early-entry.ts";
import { Form } from "~/ui/form.tsx";
import { AttachMenu } from "./attach-menu.tsx";
import { AttachmentChip, attachmentKey } from "./attachment-chip.tsx";

const maxRows = 10;

export type Draft = { readonly text: string; readonly attachments: readonly ChatAttachment[] };

/**
 * The field for a question. Enter asks, Shift-Enter starts a new line, Escape stops the answer. `/` and `@` in an empty
 * field open the server's prompts and resources.
 */
export function Composer({
  draft,
  onChange,
  onSend,
  onStop,
  isAnswering,
  disabled,
  manifest,
  field,
  children,
}: {
  draft: Draft;
  onChange: (draft: Draft) => void;
  onSend: () => void;
  onStop: () => void;
  isAnswering: boolean;
  /** Why asking is disabled; null: it isn't. */
  disabled: string | null;
  manifest: Manifest;
  field: RefObject<HTMLTextAreaElement | null>;
  /** Choices beside the send button. */
  children?: ReactNode;
}) {
  const [menu, setMenu] = useState(false);
  useEarlyText(field, draft.text, ({ value }) => onChange({ ...draft, text: value }));
  const canSend = draft.text.trim() !== "" && !isAnswering && disabled === null;
  useLayoutEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, maxRows * 24)}px`;
  });
  return (
    <Form
      aria-label="Ask"
      className="flex flex-col gap-2 rounded-xl border border-line-strong/70 bg-surface p-2 shadow-card focus-within:border-focus"
      onSubmit={() => {
        if (canSend) onSend();
      }}
    >
      {draft.attachments.length > 0 && (
        <ul className="flex flex-wrap gap-1.5 px-1">
          {draft.attachments.map((each) => (
            <li key={attachmentKey(each)}>
              <AttachmentChip attachment={each}>
                <PlainButton
                  aria-label={`Remove ${each.name}`}
                  className="rounded-sm text-faint hover:text-ink"
                  onClick={() => onChange({ ...draft, attachments: draft.attachments.filter((one) => one !== each) })}
                >
                  <X className="size-3.5" />
                </PlainButton>
              </AttachmentChip>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        rows={1}
        aria-label="Your question"
        placeholder={disabled ?? "Ask about this server, or give it a task"}
        disabled={disabled !== null}
        value={draft.text}
        onChange={({ target }) => onChange({ ...draft, text: target.value })}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape" && isAnswering) {
            event.preventDefault();
            onStop();
          } else if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            if (canSend) onSend();
          } else if ((event.key === "/" || event.key === "@") && draft.text === "" && hasAttachable(manifest)) {
            event.preventDefault();
            setMenu(true);
          }
        }}
        className="scroll-thin w-full resize-none bg-transparent px-2 py-1 text-sm leading-6 outline-none placeholder:text-faint disabled:cursor-not-allowed"
      />
      <div className="flex items-center gap-2">
        {hasAttachable(manifest) && (
          <AttachMenu
            manifest={manifest}
            open={menu}
            onOpenChange={setMenu}
            onAttach={(attachment) => {
              const known = draft.attachments.some((each) => attachmentKey(each) === attachmentKey(attachment));
              if (!known) onChange({ ...draft, attachments: [...draft.attachments, attachment].slice(0, 10) });
              field.current?.focus();
            }}
          />
        )}
        <div className="flex min-w-0 flex-1 items-center justify-end gap-2">{children}</div>
        {isAnswering ? (
          <Button variant="primary" icon={<Square className="fill-current" />} onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button type="submit" variant="primary" icon={<ArrowUp />} disabled={!canSend}>
            Ask
          </Button>
        )}
      </div>
    </Form>
  );
}

const hasAttachable = ({ resources, prompts }: Manifest) => resources.length + prompts.length > 0;
