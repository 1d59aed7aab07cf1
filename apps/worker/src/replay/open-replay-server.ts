import { setTimeout as sleep } from "node:timers/promises";
import {
  callerNameHeader,
  checkCaller,
  type SigningKeys,
  signCallerName,
  signCheckJwt,
} from "@towpath/auth/credentials";
import type { OpenReplayServer, ReplayTarget } from "@towpath/core/delivery/replay";
import { type McpClient, McpClientError, openClient } from "@towpath/mcp/client";
import type { CallAnswer, SampledCall } from "@towpath/replay";

type Connection = {
  readonly client: Promise<McpClient>;
  /** Calls that wait for their answers. */
  calls: number;
  isLeft: boolean;
};

/** For one answer; a server that sleeps wakes within it. */
const answerMs = 20_000;
/** Of all answers of a connection; a new one follows when they are used up. */
const maxBytes = 64 * 1024 * 1024;
/** While the gateway refuses a call for now, such as by a limit. */
const retryMs = 1000;
const refusedForNow = [429, 503];

/**
 * Calls servers through the gateway like every client, so that policies, limits, leases and the log hold; there its calls are
 * known as those of `check`.
 */
export const createOpenReplayServer =
  (keys: SigningKeys): OpenReplayServer =>
  (target) => {
    let newest: Connection | null = null;
    const closing: Promise<void>[] = [];
    const end = ({ client }: Connection) => {
      closing.push(
        client.then(
          (opened) => opened.close(),
          () => {},
        ),
      );
    };
    /** No further call uses it. Those under way have their answers first: closing it would end them. */
    const leave = (connection: Connection) => {
      connection.isLeft = true;
      if (newest === connection) newest = null;
    };
    const connect = (): Connection => {
      const client = credentials(keys, target).then((headers) =>
        openClient({ url: target.url, headers }, { clientName: "towpath-check", timeoutMs: answerMs, maxBytes }),
      );
      return { client, calls: 0, isLeft: false };
    };
    const once = async (call: SampledCall, signal: AbortSignal): Promise<CallAnswer> => {
      const startedAt = performance.now();
      let isOpen = false;
      newest ??= connect();
      const connection = newest;
      connection.calls += 1;
      try {
        const client = await connection.client;
        isOpen = true;
        const { result, durationMs } = await client.callTool(call.tool, call.arguments, {
          signal,
          timeoutMs: answerMs,
        });
        return { kind: "result", result: json(result), isError: result.isError === true, ms: durationMs };
      } catch (error) {
        const ms = performance.now() - startedAt;
        if (error instanceof McpClientError && error.code === "server_error") {
          return { kind: "error", code: error.rpcCode ?? 0, message: error.message, ms };
        }
        // Another handshake would be refused too.
        if (error instanceof McpClientError && refusedForNow.includes(error.httpStatus ?? 0)) {
          if (!isOpen) leave(connection);
          throw error;
        }
        // The connection may be used up or broken.
        if (!signal.aborted) leave(connection);
        return { kind: "none", reason: error instanceof McpClientError ? error.message : "The call failed.", ms };
      } finally {
        connection.calls -= 1;
        if (connection.isLeft && connection.calls === 0) end(connection);
      }
    };
    return {
      async ask(call, signal) {
        for (let tries = 1; ; tries++) {
          try {
            return await once(call, signal);
          } catch (error) {
            const reason = error instanceof Error ? error.message : "The call was refused.";
            if (signal.aborted || tries === maxTries) return { kind: "none", reason, ms: 0 };
            await sleep(retryMs, undefined, { signal, ref: false }).catch(() => {});
          }
        }
      },
      async close() {
        if (newest) end(newest);
        newest = null;
        await Promise.all(closing);
      },
    };
  };

const maxTries = 10;

async function credentials(keys: SigningKeys, { projectId, authMode }: ReplayTarget): Promise<Record<string, string>> {
  if (authMode === "towpath-cloud")
    return { authorization: `Bearer ${(await signCheckJwt(keys, { projectId })).token}` };
  // The server checks no caller; this is for its log.
  return { [callerNameHeader]: await signCallerName(keys, { projectId, userId: checkCaller }) };
}

/** As it came over the network. */
const json = (result: Readonly<Record<string, unknown>>) => result as Extract<CallAnswer, { kind: "result" }>["result"];
