import type { Elicitation, ElicitationAnswer } from "@towpath/mcp/web-client";
import { ExternalLink } from "lucide-react";
import { type ReactNode, useState } from "react";
import { isWebAddress } from "~/features/shared/project-screen/content-blocks.ts";
import { Button, buttonLook } from "~/ui/button.tsx";
import { ArgumentsEditor } from "./arguments-editor.tsx";

type OnAnswer = (answer: ElicitationAnswer) => void | Promise<void>;

type ElicitationFormProps = {
  asked: Elicitation;
  outcome: ReactNode;
  /** Null: it can't be answered here. */
  onAnswer: OnAnswer | null;
};

/**
 * A tool's question to the person while it runs (MCP, elicitation). `outcome`: shown once it is answered or given up.
 */
export function ElicitationForm({ asked, outcome, onAnswer }: ElicitationFormProps) {
  return (
    <fieldset aria-label="The server asks" className="flex min-w-0 flex-col gap-2 rounded-md border p-3">
      <p className="text-sm">
        <span className="text-muted">The server asks: </span>
        <span className="font-medium break-words whitespace-pre-wrap">{asked.message}</span>
      </p>
      {outcome !== null && <p className="text-xs text-muted">{outcome}</p>}
      {outcome === null && onAnswer && <Answer asked={asked} onAnswer={onAnswer} />}
    </fieldset>
  );
}

function Answer({ asked, onAnswer }: { asked: Elicitation; onAnswer: OnAnswer }) {
  const [busy, setBusy] = useState(false);
  const reply = async (action: "accept" | "decline", content: Record<string, unknown> | null) => {
    setBusy(true);
    try {
      await onAnswer({ action, content });
    } finally {
      setBusy(false);
    }
  };
  const decline = (
    <Button size="sm" disabled={busy} onClick={() => void reply("decline", null)}>
      Decline
    </Button>
  );
  if (asked.url !== null) {
    return (
      <div className="flex flex-wrap gap-2">
        {isWebAddress(asked.url) && (
          <a
            href={asked.url}
            target="_blank"
            rel="noopener noreferrer nofollow"
            className={buttonLook({ size: "sm", variant: "primary" })}
            onClick={() => void reply("accept", null)}
          >
            <ExternalLink /> Open {new URL(asked.url).host}
          </a>
        )}
        {decline}
      </div>
    );
  }
  return (
    <ArgumentsEditor
      schema={asked.schema ?? { type: "object" }}
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
