import { green, printError, yellow } from "../terminal/terminal.ts";

/** Reports restarts of a process: one line for each state, for any number of tries. */
export class StateLines {
  readonly #name: string;
  #reported: string | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  /** `more`: details of the cause, below the line. */
  failed(reason: string, more = ""): void {
    if (reason === this.#reported) return;
    this.#reported = reason;
    printError(
      `${yellow("!")} ${this.#name} can't start: ${reason.replace(/\.$/, "")}. Trying again with growing pauses.${more}`,
    );
  }

  /** Says nothing after a start that worked at once. */
  started(): void {
    if (this.#reported !== null) printError(`${green("✓")} ${this.#name} runs again.`);
    this.#reported = null;
  }
}
