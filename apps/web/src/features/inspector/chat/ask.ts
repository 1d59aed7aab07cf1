import type { AskInput, ChatEvent } from "@towpath/core/calling/chat/schema";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { z } from "zod";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";

const problemSchema = z.object({ message: z.string() });

/** The question failed, or its answer broke off. `message` is for the person. */
class AskFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AskFailure";
  }
}

const lost = "The connection to Towpath was lost. Ask again.";

/**
 * Asks a question and passes on the events of its answer. Aborting the signal stops the answer.
 *
 * @throws AskFailure; AbortError
 */
export async function ask(
  key: ProjectKey,
  question: AskInput & { readonly authorization: string | null },
  { onEvent, signal }: { onEvent: (event: ChatEvent) => void; signal: AbortSignal },
): Promise<void> {
  const url = `/api/projects/${encodeURIComponent(key.orgSlug)}/${encodeURIComponent(key.projectName)}/chat`;
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify(question),
      signal,
    });
    if (!answer.ok || !answer.body) throw await refusalOf(answer);
    const events = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
    let hasEnded = false;
    for (const reader = events.getReader(); ; ) {
      const { value, done } = await reader.read();
      if (done) break;
      if (value.event === "problem") throw new AskFailure(problemSchema.parse(JSON.parse(value.data)).message);
      if (value.event !== "chat") continue;
      const event = JSON.parse(value.data) as ChatEvent;
      hasEnded ||= event.type === "ended";
      onEvent(event);
    }
    if (!hasEnded) throw new AskFailure(lost);
  } catch (error) {
    if (error instanceof TypeError) throw new AskFailure(lost);
    throw error;
  }
}

async function refusalOf(answer: Response): Promise<AskFailure> {
  const refusal = z.object({ error: problemSchema }).safeParse(await answer.json().catch(() => null));
  return new AskFailure(refusal.success ? refusal.data.error.message : `HTTP ${answer.status}: ${answer.statusText}`);
}
