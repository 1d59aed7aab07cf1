export type Arguments = Record<string, unknown>;

const isObject = (value: unknown): value is Arguments =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The arguments to send: empty fields are left out, at every depth. */
export function toArguments(formData: unknown): Arguments {
  const prune = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : prune(item)));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, part]) => part !== undefined)
        .map(([key, part]) => [key, prune(part)]),
    );
  };
  return isObject(formData) ? (prune(formData) as Arguments) : {};
}

type ParsedArguments =
  | { readonly ok: true; readonly value: Arguments }
  | { readonly ok: false; readonly problem: string };

/** Parses arguments typed as JSON. Empty text means no arguments. */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { ok: true, value };
    return { ok: false, problem: 'Arguments must be a JSON object: {"name": value}' };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : "This is not JSON" };
  }
}
