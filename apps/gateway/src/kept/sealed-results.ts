import { deriveKey, openWithKeyId, sealWithKeyId } from "@towpath/crypto";
import type { Admitted } from "../call/states.ts";
import { parsedMessage } from "../portal/messages-in.ts";
import type { StoredCall } from "../read-model/kept-calls.ts";
import type { Ended } from "./live-call.ts";

/** Seals the results of calls: each opens for the caller of its call only, also after the instance's secret was replaced. */
export class SealedResults {
  readonly #current: ReturnType<typeof deriveKey>;
  readonly #previous: readonly ReturnType<typeof deriveKey>[];

  constructor(secret: string, previousSecrets: readonly string[]) {
    this.#current = deriveKey(secret, "kept-result");
    this.#previous = previousSecrets.map((each) => deriveKey(each, "kept-result"));
  }

  /** `callId`: of the call whose result it is. */
  seal(callId: string, caller: Admitted, message: NonNullable<Ended["message"]>): { sealed: string; bytes: number } {
    const sealed = sealWithKeyId(this.#current, JSON.stringify(message), contextOf(callId, caller));
    return { sealed, bytes: sealed.length };
  }

  /** The result of a call that has ended; null: there is none, or none any more. */
  resultOf(stored: Pick<StoredCall, "id" | "state" | "sealed">, caller: Admitted): Ended["message"] {
    const { id, state, sealed } = stored;
    // Of others it is what they ask their client for.
    return sealed !== null && (state === "waiting" || state === "fetched") ? this.open(id, caller, sealed) : null;
  }

  /** Null: its secret is no longer known. @throws Error for another caller */
  open(callId: string, caller: Admitted, sealed: string): Ended["message"] {
    const key = [this.#current, ...this.#previous].find(({ id }) => sealed.startsWith(`${id}.`));
    return key ? parsedMessage(openWithKeyId(key, sealed, contextOf(callId, caller))) : null;
  }
}

const contextOf = (callId: string, { owner, principal }: Admitted): string =>
  JSON.stringify(["towpath/kept-result/v1", owner.projectId, principal.id, callId]);
