import { type LanguageModel, type ModelMessage, streamText, type ToolSet } from "ai";
import type { ChatModel } from "./config.ts";
import { ModelSilent } from "./model-errors.ts";
import { languageModel } from "./models.ts";

type RequestedCall = {
  readonly id: string;
  /** The name that the model uses. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Whether arguments are a JSON object, as required. */
  readonly isValid: boolean;
};

export type ModelStep = {
  readonly calls: readonly RequestedCall[];
  /** The model's answer, to send back with the results of its calls. */
  readonly messages: readonly ModelMessage[];
  /** Whether it reached the maximum length. */
  readonly isCut: boolean;
};

export type Usage = { readonly inputTokens: number; readonly outputTokens: number };

/** One request to the model. */
export type StepRequest = {
  readonly model: ChatModel;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolSet;
  readonly signal: AbortSignal;
  readonly onText: (delta: string) => void;
  readonly onUsage: (usage: Usage) => void;
};

/** Asks the model once, and streams its text to `onText`. @throws the provider's error */
export async function askModel(request: StepRequest): Promise<ModelStep> {
  const silence = new Silence(request.model.maxSilenceSeconds);
  let failure: unknown;
  const result = streamText({
    model: languageModel(request.model) satisfies LanguageModel,
    instructions: request.instructions,
    messages: [...request.messages],
    tools: request.tools,
    maxOutputTokens: request.model.maxOutputTokens,
    maxRetries: 0,
    abortSignal: AbortSignal.any([request.signal, silence.signal]),
    // The stream has errors too; the default prints them, with the request.
    onError: () => {},
  });
  const calls: RequestedCall[] = [];
  let isCut = false;
  try {
    for await (const part of result.stream) {
      silence.reset();
      if (part.type === "text-delta") request.onText(part.text);
      else if (part.type === "tool-call") calls.push(requestedCall(part));
      else if (part.type === "error") failure = part.error;
      else if (part.type === "finish-step") {
        isCut = part.finishReason === "length";
        request.onUsage({ inputTokens: part.usage.inputTokens ?? 0, outputTokens: part.usage.outputTokens ?? 0 });
      }
    }
    request.signal.throwIfAborted();
    if (failure !== undefined) throw failure;
    silence.signal.throwIfAborted();
    return { calls, messages: await result.responseMessages, isCut };
  } catch (error) {
    throw silence.signal.aborted && !request.signal.aborted ? new ModelSilent(request.model.maxSilenceSeconds) : error;
  } finally {
    silence.end();
  }
}

function requestedCall(part: {
  toolCallId: string;
  toolName: string;
  input: unknown;
  invalid?: boolean | undefined;
}): RequestedCall {
  const { input } = part;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return {
    id: part.toolCallId,
    name: part.toolName,
    arguments: isObject ? { ...input } : {},
    isValid: part.invalid !== true && isObject,
  };
}

/** Aborts after `seconds` without `reset`. */
class Silence {
  readonly #controller = new AbortController();
  readonly #seconds: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(seconds: number) {
    this.#seconds = seconds;
    this.reset();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), this.#seconds * 1000);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
