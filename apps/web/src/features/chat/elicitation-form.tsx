import type { ChatForm, ChatReply } from "@towpath/core/chat/schema";
import { ExternalLink } from "lucide-react";
import { useState } from "react";
import { Button, buttonLook } from "~/ui/button.tsx";
import { ArgumentsEditor } from "../inspector/arguments-editor.tsx";
import { isWebAddress } from "../inspector/content-blocks.ts";

type Reply = (reply: ChatReply) => Promise<void>;

const outcomes: Record<Exclude<ChatForm["status"], "asked">, string> = {
  accept: "You answered.",
  decline: "You declined.",
  cancel: "Not answered.",
};

/** What a tool asks the person while it runs (MCP, elicitation). The answer goes to the server; the chat doesn't keep it. */
export function ElicitationForm({ form, onReply }: { form: ChatForm; onReply: Reply | null }) {
  return (
    <fieldset aria-label="The server asks" className="flex min-w-0 flex-col gap-2 rounded-md border p-3">
      <p className="text-sm">
        <span className="text-muted">The server asks: </span>
        <span className="font-medium whitespace-pre-wrap">{form.message}</span>
      </p>
      {form.status !== "asked" && <p className="text-xs text-muted">{outcomes[form.status]}</p>}
      {form.status === "asked" && onReply && <Answer form={form} onReply={onReply} />}
    </fieldset>
  );
}

function Answer({ form, onReply }: { form: ChatForm; onReply: Reply }) {
  const [busy, setBusy] = useState(false);
  const reply = async (action: "accept" | "decline", content: Record<string, unknown> | null) => {
    setBusy(true);
    await onReply({ kind: "form", action, content }).finally(() => setBusy(false));
  };
  const decline = (
    <Button size="sm" disabled={busy} onClick={() => void reply("decline", null)}>
      Decline
    </Button>
  );
  if (form.url !== null) {
    return (
      <div className="flex flex-wrap gap-2">
        {isWebAddress(form.url) && (
          <a
            href={form.url}
            target="_blank"
            rel="noopener noreferrer nofollow"
            className={buttonLook({ size: "sm", variant: "primary" })}
            onClick={() => void reply("accept", null)}
          >
            <ExternalLink aria-hidden /> Open {new URL(form.url).host}
          </a>
        )}
        {decline}
      </div>
    );
  }
  return (
    <ArgumentsEditor
      schema={form.schema ?? { type: "object" }}
      initial={{}}
      onSubmit={(content) => void reply("accept", { ...content })}
    >
      <Button type="submit" variant="primary" size="sm" busy={busy}>
        Send answer
      </Button>
      {decline}
    </ArgumentsEditor>
  );
}
