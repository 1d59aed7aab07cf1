import type { ProjectKey } from "~/features/shared/project-screen/project-key.schema.ts";
import { relayUrl, ServerConnection } from "../connection/server-connection.ts";
import type { CallResult, ServerCall } from "../server-call.ts";

type BranchCall = {
  readonly projectKey: ProjectKey;
  /** Null: production. */
  readonly branchId: string | null;
  readonly call: ServerCall;
  /** The person's own credentials, for servers that authenticate callers themselves. */
  readonly authorization: () => string | null;
  readonly signal: AbortSignal;
};

/** Makes a call on a branch's live version, over a connection of its own that ends with it. */
export async function callBranch({
  projectKey,
  branchId,
  call,
  authorization,
  signal,
}: BranchCall): Promise<CallResult> {
  const connection = new ServerConnection({ url: relayUrl(projectKey, branchId), authorization });
  // Questions need a person who looks at one call; here they are left unanswered.
  const handlers = {
    onProgress: () => {},
    onLog: () => {},
    onRequest: () => {},
    onElicit: async () => ({ action: "cancel", content: null }) as const,
    onSample: async () => null,
  };
  const outcome = await connection.perform(call, handlers, signal);
  void connection.close();
  return outcome;
}
