/** A server as clients know it. */
export type ConnectableServer = { readonly name: string; readonly url: string };

/**
 * How a client gets access: `open`, without credentials; `sign-in`, the client sends the person to sign in if it can,
 * and uses `key` if it can't; `key`, every client uses `key`.
 */
export type ClientAccess = { readonly way: "open" } | { readonly way: "sign-in" | "key"; readonly key: string };

export const placeholderKey = "YOUR_API_KEY";

export type ClientGuide = {
  readonly id: string;
  readonly label: string;
  /** Opens the client with the server filled in. Holds no key: links end up in histories and logs. */
  readonly link: { readonly label: string; readonly href: string } | null;
  /** What to do by hand; `backticks` mark code. */
  readonly steps: readonly string[];
  /** What to paste, and where. */
  readonly snippet: { readonly place: string; readonly code: string } | null;
  /** What to know before trying; `backticks` mark code. */
  readonly note: string | null;
};

/** The input of a guide: headers and keys are null if the client needs none. */
export type GuideInput = ConnectableServer & {
  readonly access: ClientAccess;
  /** For clients that can sign in. */
  readonly headers: { readonly Authorization: string } | null;
  /** For clients that can't sign in. */
  readonly key: string | null;
};
