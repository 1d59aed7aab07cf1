import { z } from "zod";

const name = z.string().min(1).max(1024);

/** One request to a server, as the inspector makes it. */
export const serverCallSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("tool"), name, arguments: z.record(z.string(), z.unknown()) }),
  z.object({ kind: z.literal("resource"), uri: z.string().min(1).max(8192) }),
  z.object({ kind: z.literal("prompt"), name, arguments: z.record(z.string(), z.string()) }),
]);
export type ServerCall = z.infer<typeof serverCallSchema>;

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
