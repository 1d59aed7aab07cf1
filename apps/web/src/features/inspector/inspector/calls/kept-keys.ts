/** The person and server of the calls: several people may use a browser. */
export type Place = { readonly userId: string; readonly projectId: string };

/** The part of the browser's storage that is used here. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

export const prefix = "towpath:inspector:";

/** Where calls of earlier visits are, of all people and servers. */
export const keysOf = (store: Store): readonly string[] =>
  Array.from({ length: store.length }, (_, index) => store.key(index) ?? "").filter((key) => key.startsWith(prefix));

/** Whether anybody has called something in this browser. */
export function hasKeptCalls(store: Store): boolean {
  try {
    return keysOf(store).length > 0;
  } catch {
    return false;
  }
}
