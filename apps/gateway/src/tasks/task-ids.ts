import { sha256 } from "@towpath/crypto";
import { z } from "zod";
import type { Admitted } from "../call/states.ts";
import { anonymous } from "../policy/credentials.ts";
import { createSignedIds } from "../policy/signed-ids.ts";

const maxLength = 200;

/** Ids of tasks for clients: signed, and valid only for the principal whose call it was, at its server. */
export type TaskIds = {
  seal: (callId: string, admitted: Admitted) => string;
  /** The call; null: the id isn't ours, or not this caller's. */
  open: (id: unknown, admitted: Admitted) => string | null;
};

/** Whether it may be one of them. Who has no name is known by the id alone, so it is a secret. */
export const isLikeTaskId = (text: string): boolean => /^k1\.[\w-]+\.[\w-]{43}$/.test(text);

export function createTaskIds(secret: string, previousSecrets: readonly string[]): TaskIds {
  const ids = createSignedIds({ purpose: "task-id", kinds: ["k1"], maxLength, secret, previousSecrets });
  return {
    seal(callId, admitted) {
      const id = ids.seal("k1", callId, ownerOf(admitted));
      if (id === null) throw new Error("the id of a call is too long for a task's");
      return id;
    },
    open(id, admitted) {
      if (typeof id !== "string") return null;
      return z.uuid().safeParse(ids.open(id, ownerOf(admitted))?.content).data ?? null;
    },
  };
}

/**
 * Whose a task is. Callers without a name have a session in common, if anything; in 2026-07-28 nothing but the id, which
 * nobody can guess.
 */
const ownerOf = ({ call, principal, session }: Admitted): string[] => [
  call.route.projectId,
  principal.id,
  principal.id === anonymous.id ? (session?.key ?? "") : "",
];

/** Whose list a task is in; null: in nobody's. */
export function listOwnerOf(admitted: Admitted): string | null {
  const isSomebodys = admitted.principal.id !== anonymous.id || admitted.session !== null;
  return isSomebodys ? sha256(JSON.stringify(["task-owner", ...ownerOf(admitted)])) : null;
}
