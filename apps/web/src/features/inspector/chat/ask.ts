import type { AskInput, ChatEvent, ChatProblem } from "@towpath/core/calling/chat/schema";
import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { streamEvents } from "~/http/streams/stream-events.ts";

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
    const events = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(streamEvents());
    let hasEnded = false;
    for (const reader = events.getReader(); ; ) {
      const { value, done } = await reader.read();
      if (done) break;
      if (value.event === "problem") throw new AskFailure((JSON.parse(value.data) as ChatProblem).message);
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
  // Of the gateway before the site, or of the site.
  const refusal = (await answer.json().catch(() => null)) as { readonly error?: { readonly message?: unknown } } | null;
  const message = refusal?.error?.message;
  return new AskFailure(typeof message === "string" ? message : `HTTP ${answer.status}: ${answer.statusText}`);
}
