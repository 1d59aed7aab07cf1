/** How much is also dropped from the end of a string that was cut off: it may be half a secret. */
const uncertainCharacters = 256;

type Container = "{" | "[";

/**
 * Completes the beginning of a JSON text: ends it after its last complete value, or in a string that was cut off, which
 * gets an ellipsis, and closes what is open. Omits members without a value. The result is not JSON if the input wasn't.
 */
export function completeJson(beginning: string): string {
  const scan = new Scan();
  let at = 0;
  while (at < beginning.length) {
    const end = beginning[at] === '"' ? endOfText(beginning, at) : at + 1;
    if (end === null) {
      return scan.isValueNext ? cutText(beginning, at) + scan.closing : scan.completed(beginning);
    }
    scan.take(beginning[at] ?? "", end);
    at = end;
  }
  return scan.completed(beginning);
}

/** The index after a string that starts at `start`; null if it has no end. */
function endOfText(json: string, start: number): number | null {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === "\\") at++;
    else if (json[at] === '"') return at + 1;
  }
  return null;
}

function cutText(json: string, start: number): string {
  const limit = json.length - uncertainCharacters;
  let end = start + 1;
  while (end < limit) {
    // Never within an escape.
    const next = end + (json[end] !== "\\" ? 1 : json[end + 1] === "u" ? 6 : 2);
    if (next > limit) break;
    end = next;
  }
  return `${json.slice(0, end)}…"`;
}

class Scan {
  #open: Container[] = [];
  #isValueNext = true;
  /** Where the last complete value ended, and what was open there. */
  #end = 0;
  #openAtEnd: Container[] = [];
  #isInScalar = false;

  get isValueNext(): boolean {
    return this.#isValueNext;
  }

  get closing(): string {
    return closingOf(this.#open);
  }

  completed(json: string): string {
    return json.slice(0, this.#end) + closingOf(this.#openAtEnd);
  }

  /** Takes a character, or a whole string, that ends before `end`. */
  take(character: string, end: number): void {
    const isDelimiter = ",:{}[] \t\r\n".includes(character);
    if (this.#isInScalar && isDelimiter) this.#valueEnded(end - 1);
    if (character === "{" || character === "[") {
      this.#open.push(character);
      this.#isValueNext = character === "[";
      this.#mark(end);
    } else if (character === "}" || character === "]") {
      this.#open.pop();
      this.#valueEnded(end);
    } else if (character === ",") this.#isValueNext = this.#open.at(-1) === "[";
    else if (character === ":") this.#isValueNext = true;
    else if (character === '"') {
      if (this.#isValueNext) this.#valueEnded(end);
    } else if (!isDelimiter) this.#isInScalar = true;
  }

  #valueEnded(end: number): void {
    this.#isInScalar = false;
    this.#isValueNext = false;
    this.#mark(end);
  }

  #mark(end: number): void {
    this.#end = end;
    this.#openAtEnd = [...this.#open];
  }
}

function closingOf(open: readonly Container[]): string {
  return open
    .toReversed()
    .map((container) => (container === "{" ? "}" : "]"))
    .join("");
}
