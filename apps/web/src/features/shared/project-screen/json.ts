// Pages check what servers and earlier visits left with these instead of zod, which is a seventh of a page's script.

export type Json = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === "string";
