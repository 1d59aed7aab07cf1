import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OwnPerson, restOf } from "./own-people.ts";

/** The variable that is per caller. */
export const ownVariable = "SERVICE_TOKEN";

/**
 * A FastMCP server of both eras that reads its caller's token from its environment. It compares each caller with the token
 * by itself, and says how often they differed: one that a wrong instance answered counts even if its answer were lost.
 */
export const ownSource = `import os

from fastmcp import FastMCP

mcp = FastMCP("Own")
crossed = 0


@mcp.tool
def whoami(who: str) -> str:
    """Whose token this process has."""
    global crossed
    token = os.environ["${ownVariable}"]
    if token.split(".")[0] != who:
        crossed += 1
    return f"{token} {crossed}"


@mcp.tool
def accepted() -> str:
    """What a service says of the token."""
    token = os.environ["${ownVariable}"]
    if ".wrong." in token:
        raise ValueError(f"the service does not know {token}")
    return "fine"


@mcp.tool
def crash() -> str:
    os._exit(3)


if __name__ == "__main__":
    import sys

    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
`;

export type AttackParts = {
  /** The server's endpoint. */
  readonly url: string;
  readonly rest: ReturnType<typeof restOf>;
  readonly people: readonly OwnPerson[];
  readonly calls: number;
  /** Ends earlier after this time, milliseconds, once so many calls were answered. */
  readonly within?: { readonly ms: number; readonly answered: number };
  /** Callers per person at the same time. */
  readonly atOnce: number;
  /** Called every now and then, such as a kill of the gateway. */
  readonly disturb: () => Promise<void>;
  /** After how many calls each time. */
  readonly disturbEvery: number;
};

export type AttackResult = {
  readonly answered: number;
  /** With another person's value, or counted by the server to have been called by another person. */
  readonly crossed: number;
  /** With a value that was replaced or deleted more than a second before the call. */
  readonly stale: number;
  /** Of those that the person had a value for. */
  readonly refused: number;
  /** Without an answer: a kill hit them, or the client's connection. */
  readonly failed: number;
  readonly changes: number;
  /** Of each deletion, as `deleteValue` returns it. */
  readonly servedUntilMs: readonly number[];
};

/** The state of a person's value. `changedAt`: performance.now(). */
type Owned = { readonly person: OwnPerson; version: number; changedAt: number; isChanging: boolean };
type Era = "legacy" | "modern";
type Caller = { call(tool: string, args: Record<string, unknown>): Promise<string>; close(): Promise<void> };

const settledMs = 1000;

/**
 * Calls of many people at once, mixed with replaced and deleted values, crashes of their servers and `disturb`: by clients
 * of both eras, with sessions and without.
 */
export async function attackOwnValues(parts: AttackParts): Promise<AttackResult> {
  const counts = { answered: 0, crossed: 0, stale: 0, refused: 0, failed: 0, changes: 0 };
  const servedUntilMs: number[] = [];
  let left = parts.calls;
  const { within } = parts;
  const endAt = performance.now() + (within?.ms ?? 0);
  const isOver = () =>
    left <= 0 || (within !== undefined && performance.now() >= endAt && counts.answered >= within.answered);
  let untilDisturbed = parts.disturbEvery;
  const owned = parts.people.map((person): Owned => ({ person, version: 0, changedAt: 0, isChanging: false }));
  await Promise.all(owned.map((each) => setValue(parts, each)));

  async function callOnce(caller: Caller, each: Owned): Promise<void> {
    const [{ version, changedAt, isChanging }, startedAt] = [{ ...each }, performance.now()];
    const text = await caller.call("whoami", { who: each.person.userId });
    counts.answered += 1;
    const isSame = !isChanging && !each.isChanging && each.version === version;
    const isSettled = isSame && startedAt - changedAt > settledMs;
    if (text.includes("/my-values/")) {
      if (isSettled) counts.refused += 1;
      return;
    }
    const [, who, given, seen] = /^([0-9a-f-]{36})\.(\d+)\.\S* (\d+)$/.exec(text) ?? [];
    if (who === undefined) throw new Error(`an answer that nobody expects: ${text.slice(0, 200)}`);
    if (who !== each.person.userId || seen !== "0") counts.crossed += 1;
    if (isSettled && Number(given) !== version) counts.stale += 1;
  }

  async function work(each: Owned, era: Era): Promise<void> {
    let caller: Caller | null = null;
    while (!isOver()) {
      left -= 1;
      untilDisturbed -= 1;
      if (untilDisturbed <= 0) {
        untilDisturbed = parts.disturbEvery;
        await parts.disturb();
      }
      const dice = Math.random();
      try {
        caller ??= await connect(parts.url, each.person.key, era);
        // A crash is an answer too, of the gateway.
        if (dice < 0.002) await caller.call("crash", {}).catch(() => null);
        else if (dice < 0.02 && !each.isChanging) {
          counts.changes += 1;
          if (dice < 0.014) await setValue(parts, each);
          else servedUntilMs.push(await deleteValue(parts, each));
        }
        await callOnce(caller, each);
      } catch (error) {
        if (error instanceof Error && error.message.startsWith("an answer that")) throw error;
        counts.failed += 1;
        await caller?.close();
        caller = null;
      }
    }
    await caller?.close();
  }

  const eras = Array.from({ length: parts.atOnce }, (_, at): Era => (at % 2 === 0 ? "modern" : "legacy"));
  await Promise.all(owned.flatMap((each) => eras.map((era) => work(each, era))));
  return { ...counts, servedUntilMs };
}

async function setValue({ rest }: AttackParts, each: Owned): Promise<void> {
  each.isChanging = true;
  const next = each.version + 1;
  const value = `${each.person.userId}.${next}.${Math.random().toString(36).slice(2)}`;
  const { status } = await rest(each.person.key, "PATCH", "/my-values", { values: [{ keyName: ownVariable, value }] });
  if (status !== 200) throw new Error(`a value was not stored: ${status}`);
  Object.assign(each, { version: next, changedAt: performance.now(), isChanging: false });
}

/**
 * Deletes the value, calls until refused, and enters another one. Returns when the last call that was still served had
 * been sent, in milliseconds after the deletion: 0 when none was, NaN when a call was lost. Not when the refusal arrived: that
 * depends on the machine.
 */
async function deleteValue(parts: AttackParts, each: Owned): Promise<number> {
  each.isChanging = true;
  await parts.rest(each.person.key, "DELETE", `/my-values/${ownVariable}`);
  const deletedAt = performance.now();
  const caller = await connect(parts.url, each.person.key, "modern").catch(() => null);
  const served = caller === null ? Number.NaN : await servedUntil(caller, each.person.userId, deletedAt);
  await caller?.close();
  await setValue(parts, each);
  return served;
}

async function servedUntil(caller: Caller, who: string, since: number): Promise<number> {
  let served = 0;
  for (;;) {
    const sentAfter = performance.now() - since;
    const text = await caller.call("whoami", { who }).catch(() => null);
    if (text === null) return Number.NaN;
    if (text.includes("/my-values/") || sentAfter > 10_000) return served;
    served = sentAfter;
  }
}

async function connect(url: string, key: string, era: Era): Promise<Caller> {
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const info = { name: `own-${era}`, version: "1" };
  const client =
    era === "legacy" ? new LegacyClient(info) : new ModernClient(info, { versionNegotiation: { mode: "auto" } });
  const transport =
    era === "legacy"
      ? new StreamableHTTPClientTransport(new URL(url), { requestInit })
      : new ModernTransport(new URL(url), { requestInit });
  await client.connect(transport as never);
  return {
    async call(name, args) {
      const { content } = (await client.callTool({ name, arguments: args } as never)) as { readonly content: unknown };
      return (content as { readonly text?: string }[]).map(({ text = "" }) => text).join("");
    },
    close: () => client.close().catch(() => {}),
  };
}
