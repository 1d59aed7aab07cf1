import { Refusal } from "./terminal.ts";

/** Texts of parseArgs and of Node's network errors are turned into one sentence; the rest keeps its stack. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")) {
    // Node adds advice of its own after the first sentence, which nobody at this terminal needs.
    const [sentence = error.message] = error.message.split(". ");
    return new Refusal(`${sentence.replace(/\.$/, "")}. See ./towpath help.`);
  }
  return new Refusal(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
