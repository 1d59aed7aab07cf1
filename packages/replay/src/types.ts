export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

/** A call of production's log. */
export interface SampledCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What a server answered. `none`: no answer came, `reason` says why in words. `ms`: milliseconds. */
export type CallAnswer =
  | { readonly kind: "result"; readonly result: JsonObject; readonly isError: boolean; readonly ms: number }
  | { readonly kind: "error"; readonly code: number; readonly message: string; readonly ms: number }
  | { readonly kind: "none"; readonly reason: string; readonly ms: number };

/** Asks one of the two servers. A rejection counts as no answer. */
export type AskServer = (call: SampledCall, signal: AbortSignal) => Promise<CallAnswer>;

export interface ReplayInput {
  /** In the order in which they are replayed, as {@link chooseCalls} returns them. */
  readonly calls: readonly SampledCall[];
  readonly production: AskServer;
  readonly preview: AskServer;
  /** `calls`: of the sample, each of which asks production two or three times and the preview once or twice. */
  readonly budget: { readonly calls: number; readonly seconds: number };
  readonly signal: AbortSignal;
  /** Calls under way at once; 3 by default. */
  readonly concurrency?: number;
}

/** `inconclusive`: nothing that counts could be compared. */
export type Verdict = "same" | "different" | "inconclusive";

/**
 * `lost`, `added`: a field, `type`: a value of another type, `value`: another value, `error`: the text or kind of an
 * error, or an error instead of a result, `slower`: the median of the answers' times, `no-answer`: none came.
 */
export type DifferenceKind = "lost" | "added" | "type" | "value" | "error" | "slower" | "no-answer";

export interface Difference {
  readonly kind: DifferenceKind;
  /** Where in the answer, such as `structuredContent.items[].price`; empty for the whole answer. */
  readonly path: string;
  /** The values of the first call that shows it, as JSON or text, cut; null where there is none. */
  readonly was: string | null;
  readonly is: string | null;
  /** How many calls show it. */
  readonly calls: number;
  /** False for what no client can depend on, such as an added field: shown, but not counted as different. */
  readonly counts: boolean;
  /** One sentence for people. */
  readonly text: string;
}

/** Milliseconds. */
export interface Latency {
  readonly median: number;
  readonly slowest: number;
}

/** One call with both answers, cut to a bound. `callId`: of the {@link SampledCall}. */
export interface ReplayExample {
  readonly callId: string;
  readonly arguments: string;
  readonly production: string;
  readonly preview: string;
  readonly differences: readonly Pick<Difference, "kind" | "path" | "was" | "is" | "counts">[];
}

export interface ToolReport {
  readonly tool: string;
  readonly replayed: number;
  /** Calls with a difference that counts. */
  readonly different: number;
  /** Those that count come first. */
  readonly differences: readonly Difference[];
  /** Differences beyond the bound of the report. */
  readonly moreDifferences: number;
  readonly latency: { readonly production: Latency; readonly preview: Latency } | null;
  readonly examples: readonly ReplayExample[];
}

/** `flaky`: production itself answered in different ways, or not at all. */
export type NotComparedReason = "calls" | "seconds" | "ended" | "flaky" | "report";

/** JSON, at most 200 KB. */
export interface ReplayReport {
  readonly verdict: Verdict;
  readonly seconds: number;
  /** Requests sent to both servers. */
  readonly requests: number;
  readonly tools: readonly ToolReport[];
  /** Sampled calls that were not compared, with a sentence that says why. */
  readonly notCompared: readonly {
    readonly tool: string;
    readonly calls: number;
    readonly reason: NotComparedReason;
    readonly text: string;
  }[];
}

/** A tool as a server's list offers it. */
export interface OfferedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: JsonObject;
}

/** What a model chose. `tool`: null where it answered without any. */
export interface ToolChoice {
  readonly tool: string | null;
  readonly arguments: JsonObject | null;
}

/** What a model chose; or a `problem`, why its answer chose nothing, for people. */
export type ModelAnswer = ToolChoice | { readonly problem: string };

export interface ChoiceInput {
  readonly questions: readonly string[];
  readonly production: readonly OfferedTool[];
  readonly preview: readonly OfferedTool[];
  /**
   * `tokens`: what the answer cost; those that are cut off or fail cost as well. A rejection counts as a question without an
   * answer that cost nothing.
   */
  readonly ask: (
    question: string,
    tools: readonly OfferedTool[],
    signal: AbortSignal,
  ) => Promise<ModelAnswer & { readonly tokens: number }>;
  /** `calls`: of the model, three or four for each question. */
  readonly budget: { readonly calls: number; readonly seconds: number; readonly tokens: number };
  readonly signal: AbortSignal;
  /** Questions under way at once; 1 by default. */
  readonly concurrency?: number;
}

/** `unstable`: the model chooses differently with the same tools, so nothing follows. */
type ChoiceState = "same" | "other-tool" | "other-arguments" | "unstable" | "failed" | "not-asked";

export interface ComparedChoice {
  readonly question: string;
  readonly state: ChoiceState;
  readonly production: ToolChoice | null;
  readonly preview: ToolChoice | null;
  /** One sentence for people. */
  readonly text: string;
}

/** JSON. */
export interface ChoiceReport {
  readonly verdict: Verdict;
  readonly seconds: number;
  /** Calls of the model, failed ones too. */
  readonly calls: number;
  readonly tokens: number;
  readonly questions: readonly ComparedChoice[];
}

/** A call that may be sampled. `at`: when it was made, in milliseconds since 1970. */
export interface CandidateCall extends SampledCall {
  readonly at: number;
}
