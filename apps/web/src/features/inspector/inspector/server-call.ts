/** One request to a server, as the inspector makes it. */
export type ServerCall =
  | { readonly kind: "tool"; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly kind: "resource"; readonly uri: string }
  | { readonly kind: "prompt"; readonly name: string; readonly arguments: Readonly<Record<string, string>> };

/** The outcome of a call: the server's result, which may itself report a failure, or an error. */
export type CallResult =
  | {
      readonly ok: true;
      readonly result: Readonly<Record<string, unknown>>;
      /** Milliseconds of the call alone. */
      readonly durationMs: number;
      /** Milliseconds until the connection was open, including waking the server; 0 where it was open already. */
      readonly connectMs: number;
      readonly protocolVersion: string;
    }
  | { readonly ok: false; readonly code: string; readonly rpcCode: number | null; readonly message: string };

/** The code of a call that the user canceled. */
export const canceledCode = "aborted";

/** Whether the user canceled the call, which is not the server's failure. */
export const isCanceled = (outcome: CallResult): boolean => !outcome.ok && outcome.code === canceledCode;
