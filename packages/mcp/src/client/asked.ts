import { type Client, type ElicitResult, ProtocolError } from "@modelcontextprotocol/client";

/** A server's question to the person: a form to fill in, or with `url` a page to open. */
export type Elicitation = {
  readonly message: string;
  /** JSON schema of the form's fields; null for a page. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly url: string | null;
};

export type ElicitationAnswer = {
  readonly action: "accept" | "decline" | "cancel";
  readonly content: Readonly<Record<string, unknown>> | null;
};

/** A server's request to the client's model. `content`: one block of content, or several. */
export type Sampling = {
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: unknown }[];
  readonly systemPrompt: string | null;
  readonly maxTokens: number;
};

/** `model`: the name of the model that wrote the text. */
export type SamplingAnswer = { readonly text: string; readonly model: string };

/** One log message of a server (`notifications/message`). `data`: any JSON. */
export type LogMessage = { readonly level: string; readonly logger: string | null; readonly data: unknown };

export type AskedHandlers = {
  /**
   * Answers a tool's questions while it runs, in both eras. Without it the client doesn't offer elicitation, and a call
   * that needs an answer anyway returns `input_required`. It runs in the asynchronous context of its call.
   */
  readonly onElicit?: (asked: Elicitation) => Promise<ElicitationAnswer>;
  /** The same for a model's answer. Null: the person rejects it. */
  readonly onSample?: (asked: Sampling) => Promise<SamplingAnswer | null>;
  /** Receives log messages of the server, which are requested only if it is set. */
  readonly onLog?: (message: LogMessage) => void;
};

/** JSON-RPC code of "User rejected sampling request" in the specification's examples. */
const rejected = -1;

/** The capabilities that the client announces. */
export const askedCapabilities = ({ onElicit, onSample }: AskedHandlers) => ({
  ...(onElicit && { elicitation: { form: {}, url: {} } }),
  ...(onSample && { sampling: {} }),
});

export function handleAsked(client: Client, { onElicit, onSample, onLog }: AskedHandlers): void {
  if (onElicit) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const asked =
        params.mode === "url"
          ? { message: params.message, schema: null, url: params.url }
          : { message: params.message, schema: { ...params.requestedSchema }, url: null };
      const { action, content } = await onElicit(asked);
      return { action, ...(content && { content: content as NonNullable<ElicitResult["content"]> }) };
    });
  }
  if (onSample) {
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      const { messages, systemPrompt = null, maxTokens } = params;
      const answer = await onSample({ messages, systemPrompt, maxTokens });
      if (!answer) throw new ProtocolError(rejected, "The person didn't allow it.");
      const content = { type: "text" as const, text: answer.text };
      return { role: "assistant" as const, content, model: answer.model, stopReason: "endTurn" };
    });
  }
  if (onLog) {
    client.setNotificationHandler("notifications/message", ({ params: { level, logger = null, data } }) =>
      onLog({ level, logger, data }),
    );
  }
}
