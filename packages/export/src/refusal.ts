/** Whether an export can be used: `problem` says to whoever has it what is wrong and what to do. */
export type Usable<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

/** Ends the reading of an export. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** Converts a refusal to a result. Rethrows other errors. */
export async function orRefusal<Value>(read: () => Promise<Value>): Promise<Usable<Value>> {
  try {
    return { ok: true, value: await read() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, problem: error.message };
    throw error;
  }
}

export const notWhole = (why: string) =>
  new Refusal(`This is not a whole export: ${why}. Export the server again, and copy all of it.`);

/** A path or name for a message. */
export const shown = (text: string): string => JSON.stringify(text.slice(0, 200));
