import { randomUUID } from "node:crypto";
import type { ChatEvent, ChatForm, ChatReply, ChatToolPart } from "@towpath/core/calling/chat/schema";
import { type Elicitation, type ElicitationAnswer, McpClientError } from "@towpath/mcp/client";
import type { Manifest } from "@towpath/mcp/manifest";
import type { Redactor } from "@towpath/secrets/redaction";
import { boundedResult, type ResultRoom } from "./tool-result.ts";
import type { ToolServer } from "./tool-server.ts";
import { needsApproval } from "./tools.ts";

export type ToolContext = {
  readonly tools: Manifest["tools"];
  readonly server: ToolServer;
  /** Tools that the person allowed for the whole chat. */
  readonly allowed: Set<string>;
  readonly room: ResultRoom;
  readonly redactor: Redactor;
  readonly signal: AbortSignal;
  readonly emit: (event: ChatEvent) => void;
  /** Waits for the person's answer to an approval or a form. Rejects when the turn is stopped or nobody answers. */
  readonly waitForReply: (id: string) => Promise<ChatReply>;
};

/** The person did not answer in time. */
export class ReplyTimedOut extends Error {
  constructor() {
    super("no reply in time");
    this.name = "ReplyTimedOut";
  }
}

type Request = Pick<ChatToolPart, "id" | "tool" | "arguments">;

/** Makes a call that the model requested, if the person allows it. Never rejects: the part holds result or error. */
export async function carryOut(request: Request, context: ToolContext): Promise<ChatToolPart> {
  const call = new RunningCall(request, context);
  try {
    if (!(await call.isAllowed())) return call.part;
    await call.run();
  } catch (error) {
    call.fail(error);
  }
  return call.part;
}

/** The part for a call that can't be made at all. */
export function failedCall(request: Request, error: string): ChatToolPart {
  return { ...blank(request), status: "failed", error };
}

const blank = (request: Request): ChatToolPart => ({
  kind: "tool",
  ...request,
  status: "running",
  approval: null,
  result: null,
  error: null,
  truncated: false,
  durationMs: null,
  requestId: null,
  forms: [],
});

class RunningCall {
  part: ChatToolPart;
  readonly #context: ToolContext;
  /** The model's arguments; those that are shown are redacted. */
  readonly #arguments: ChatToolPart["arguments"];

  constructor(request: Request, context: ToolContext) {
    this.#context = context;
    this.#arguments = request.arguments;
    this.part = blank({ ...request, arguments: context.redactor.json(request.arguments) as ChatToolPart["arguments"] });
  }

  async isAllowed(): Promise<boolean> {
    const { tools, allowed, waitForReply } = this.#context;
    const { tool, id } = this.part;
    const found = tools.find(({ tool_name }) => tool_name === tool);
    if (!needsApproval(found)) return this.#update({ approval: "not needed" });
    if (allowed.has(tool)) return this.#update({ approval: "always" });
    this.#update({ status: "asked" });
    const reply = await waitForReply(id);
    if (reply.kind !== "approval" || reply.decision === "deny") {
      this.#update({ status: "denied" });
      return false;
    }
    if (reply.decision === "always") allowed.add(tool);
    return this.#update({ status: "running", approval: reply.decision });
  }

  async run(): Promise<void> {
    const { server, redactor, room } = this.#context;
    const outcome = await server.callTool(
      { name: this.part.tool, arguments: this.#arguments },
      { onElicit: (asked) => this.#ask(asked), onRequest: (requestId) => this.#update({ requestId }) },
    );
    const { result, truncated } = boundedResult(outcome.result, room);
    const status = result.isError === true ? "failed" : "done";
    this.#update({
      status,
      truncated,
      durationMs: outcome.durationMs,
      result: redactor.json(result, truncated) as Record<string, unknown>,
    });
  }

  fail(error: unknown): void {
    const { signal, redactor } = this.#context;
    const forms = this.part.forms.map((form) =>
      form.status === "asked" ? { ...form, status: "cancel" as const } : form,
    );
    if (signal.aborted) this.#update({ status: "stopped", forms, error: "You stopped the answer." });
    else if (error instanceof ReplyTimedOut)
      this.#update({ status: "denied", forms, error: "Nobody answered in time, so it wasn't called." });
    else if (error instanceof McpClientError)
      this.#update({ status: "failed", forms, error: redactor.text(messageOf(error)) });
    else throw error;
  }

  /** Shows the form and waits for the person. The answer goes to the server only. */
  async #ask(asked: Elicitation): Promise<ElicitationAnswer> {
    const id = randomUUID();
    const form: ChatForm = {
      id,
      message: asked.message,
      status: "asked",
      url: asked.url,
      schema: asked.schema && { ...asked.schema },
    };
    this.#update({ forms: [...this.part.forms, form] });
    const answer = await this.#answerTo(id);
    const forms = this.part.forms.map((each) => (each.id === id ? { ...each, status: answer.action } : each));
    this.#update({ forms });
    return answer;
  }

  async #answerTo(id: string): Promise<ElicitationAnswer> {
    try {
      const reply = await this.#context.waitForReply(id);
      return reply.kind === "form"
        ? { action: reply.action, content: reply.action === "accept" ? (reply.content ?? {}) : null }
        : { action: "cancel", content: null };
    } catch (error) {
      if (error instanceof ReplyTimedOut) return { action: "cancel", content: null };
      throw error;
    }
  }

  #update(change: Partial<ChatToolPart>): true {
    this.part = { ...this.part, ...change };
    this.#context.emit({ type: "tool", part: this.part });
    return true;
  }
}

/** The error's message; for a call that ran too long, the limit. */
function messageOf(error: McpClientError): string {
  if (error.code === "aborted") return "The call took longer than 2 minutes and was stopped.";
  return error.message;
}
