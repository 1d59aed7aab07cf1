import { addAbortListener } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { equalInConstantTime, hmacSha256, randomToken, sha256 } from "@towpath/crypto";
import { z } from "zod";
import type { LayerAddress } from "../pod/server-pod.ts";

/** Where a waiting pod listens. */
export const handOverPort = 8001;

const retryMs = 25;
const maxLineBytes = 10_000;
const greetingSchema = z.object({ uid: z.string(), nonce: z.string(), proof: z.string() });

export type Recipient = {
  readonly host: string;
  readonly port: number;
  /** Of the pod that was taken: another one must not get what is for it. */
  readonly uid: string;
};

/** What a waiting pod starts its server with. `more`: an interpreter, which becomes one with the next hand-over. */
export type HandedOver = { readonly layers: readonly LayerAddress[]; readonly start: object; readonly more?: true };

/** A connection to a waiting pod that has proven that it knows the key. */
export type OpenedHandOver = {
  /** Once. Closes the connection. */
  send(document: HandedOver): Promise<void>;
};

/**
 * Connects to a waiting pod, which is then given what its server starts with: see python/towpath_pod/wait.py. Both sides
 * prove that they know the key before any of it is sent.
 *
 * @param key 32 bytes
 * @param signal limits all of it, `send` too, and closes the connection
 * @throws an error of the connection, or one that says why the pod is not trusted
 */
export async function openHandOver(to: Recipient, key: Uint8Array, signal: AbortSignal): Promise<OpenedHandOver> {
  for (;;) {
    try {
      return await attempt(to, key, signal);
    } catch (error) {
      // It began to run a moment ago.
      const isEarly = error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
      if (!isEarly || signal.aborted) throw error;
      await sleep(retryMs, undefined, { signal });
    }
  }
}

async function attempt({ host, port, uid }: Recipient, key: Uint8Array, signal: AbortSignal): Promise<OpenedHandOver> {
  signal.throwIfAborted();
  // Its certificate is its own: the key proves it.
  const socket = connect({ host, port, minVersion: "TLSv1.3", rejectUnauthorized: false });
  const listening = addAbortListener(signal, () =>
    socket.destroy(new Error("The waiting pod did not answer in time.")),
  );
  const close = () => {
    listening[Symbol.dispose]();
    socket.destroy();
  };
  const lines = linesOf(socket);
  const answer = async () => {
    const { done, value } = await lines.next();
    if (done === true) throw new Error("The waiting pod ended the connection.");
    return JSON.parse(value) as unknown;
  };
  const send = (message: object) => void socket.write(`${JSON.stringify(message)}\n`);
  try {
    const nonce = randomToken();
    send({ nonce });
    const greeting = greetingSchema.parse(await answer());
    const certificate = sha256(socket.getPeerCertificate().raw, "hex");
    const proof = (side: "pod" | "runner") =>
      hmacSha256(key, [side, uid, nonce, greeting.nonce, certificate].join("\n"), "hex");
    if (greeting.uid !== uid || !equalInConstantTime(greeting.proof, proof("pod")))
      throw new Error("What answers for the waiting pod is not the pod, or has another key.");
    // It may break before it is used, which `send` reports.
    socket.on("error", () => {});
    return {
      async send(document) {
        try {
          send({ proof: proof("runner"), ...document });
          await answer();
        } finally {
          close();
        }
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

async function* linesOf(socket: TLSSocket): AsyncGenerator<string, undefined> {
  let held = "";
  for await (const chunk of socket.setEncoding("utf8")) {
    held += chunk;
    if (held.length > maxLineBytes) throw new Error("The waiting pod answered too much.");
    for (let end = held.indexOf("\n"); end !== -1; end = held.indexOf("\n")) {
      yield held.slice(0, end);
      held = held.slice(end + 1);
    }
  }
  return undefined;
}
