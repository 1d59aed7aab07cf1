/** A problem at a position of a query's text; `from` and `to` count UTF-16 code units. */
export type Problem = { readonly from: number; readonly to: number; readonly text: string };

/** A word, a text in quotes, or a value after `key:`. */
export type Token = {
  readonly key: string | null;
  /** Without its quotes. */
  readonly value: string;
  readonly from: number;
  readonly to: number;
};

/** A key consists of letters and begins a word. `https://x` and `12:30` have none. */
const keyPattern = /([A-Za-z]+):(?!\/\/)/y;

/** The parts of a query's text, in order. Quotes hold spaces together; in them, `\"` and `\\` are a quote and a backslash. */
export function tokensOf(text: string): { tokens: Token[]; problems: Problem[] } {
  const tokens: Token[] = [];
  const problems: Problem[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at] ?? "")) {
      at++;
      continue;
    }
    const from = at;
    keyPattern.lastIndex = at;
    const [whole = "", key = null] = keyPattern.exec(text) ?? [];
    at += whole.length;
    if (text[at] === '"') {
      const quote = readQuoted(text, at);
      at = quote.end;
      if (!quote.isClosed) problems.push({ from, to: at, text: 'A quote is open. Close it with another ".' });
      tokens.push({ key, value: quote.value, from, to: at });
      continue;
    }
    const begin = at;
    while (at < text.length && !/\s/.test(text[at] ?? "")) at++;
    tokens.push({ key, value: text.slice(begin, at), from, to: at });
  }
  return { tokens, problems };
}

function readQuoted(text: string, start: number): { value: string; end: number; isClosed: boolean } {
  let value = "";
  for (let at = start + 1; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (letter === '"') return { value, end: at + 1, isClosed: true };
    if (letter === "\\" && /["\\]/.test(text[at + 1] ?? "")) value += text[++at];
    else value += letter;
  }
  return { value, end: text.length, isClosed: false };
}
