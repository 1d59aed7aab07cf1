import { z } from "zod";
import type { Admitted } from "../call/states.ts";
import { ownerOf } from "../policy/sessions.ts";
import { createSignedIds } from "../policy/signed-ids.ts";
import type { MemberSession } from "./member-sessions.ts";

/** A task of one of a portal's servers: its id there, and the server's name for the tool that created it. */
export type MemberTask = { readonly projectId: string; readonly tool: string; readonly taskId: string };

/** A request from one of a portal's servers to the client, in a session there. */
type MemberRequestId = {
  readonly projectId: string;
  readonly session: MemberSession;
  readonly id: string | number;
};

/**
 * Ids for clients in place of the ids of a portal's servers. They are signed, and valid only at the portal that issued
 * them and for the same principal; ids of requests also only in the same session.
 */
export type MemberIds = {
  /** Null: the server's own id is too long. */
  sealTask: (task: MemberTask, admitted: Asking) => string | null;
  openTask: (id: string, admitted: Asking) => MemberTask | null;
  sealRequest: (request: MemberRequestId, admitted: Asking) => string | null;
  openRequest: (id: string, admitted: Asking) => MemberRequestId | null;
};
type Asking = Pick<Admitted, "owner" | "session">;

/** The id of a task is also sent in a header. The id of a request contains a session id. */
const maxLength = { task: 4096, request: 8192 };

const taskSchema = z.tuple([z.string(), z.string(), z.string()]);
const requestSchema = z.tuple([z.string(), z.string().nullable(), z.string(), z.union([z.string(), z.number()])]);

export function createMemberIds(secret: string, previousSecrets: readonly string[] = []): MemberIds {
  const common = { purpose: "portal-member", secret, previousSecrets } as const;
  const tasks = createSignedIds({ ...common, kinds: ["t1"], maxLength: maxLength.task });
  const requests = createSignedIds({ ...common, kinds: ["r1"], maxLength: maxLength.request });
  return {
    sealTask: ({ projectId, tool, taskId }, { owner }) => tasks.seal("t1", [projectId, tool, taskId], ownerOf(owner)),
    openTask(id, { owner }) {
      const opened = taskSchema.safeParse(tasks.open(id, ownerOf(owner))?.content);
      if (!opened.success) return null;
      const [projectId, tool, taskId] = opened.data;
      return { projectId, tool, taskId };
    },
    sealRequest: ({ projectId, session, id }, { owner, session: own }) =>
      requests.seal("r1", [projectId, session.id, session.protocolVersion, id], [...ownerOf(owner), own?.key ?? ""]),
    openRequest(id, { owner, session: own }) {
      const opened = requestSchema.safeParse(requests.open(id, [...ownerOf(owner), own?.key ?? ""])?.content);
      if (!opened.success) return null;
      const [projectId, sessionId, protocolVersion, requestId] = opened.data;
      return { projectId, session: { id: sessionId, protocolVersion }, id: requestId };
    },
  };
}
