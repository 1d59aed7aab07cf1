import type { ChoiceInput, ChoiceReport } from "./types.ts";

/** Asks a model each question with the tools of both servers and reports which choices changed. Never rejects. */
export function compareToolChoices(_input: ChoiceInput): Promise<ChoiceReport> {
  return Promise.reject(new Error("The comparison follows in the next commit."));
}
