import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectPlainly } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HandedOver, openHandOver, type Recipient } from "./hand-over.ts";

// The program of a waiting pod as an ordinary process: the cluster's tests try it in pods.

const packages = fileURLToPath(new URL("../../../../../python", import.meta.url));
const key = randomBytes(32);
const uid = "5b5f3f4e";
const document = { layers: [{ url: "https://bucket/a", directory: "code", digest: "d" }], start: { secret: "s" } };
let directory = "";
const children = new Set<ChildProcess>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tw-wait-"));
  await writeFile(join(directory, "key"), key.toString("base64"));
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

/** Starts it; `received` is what it was given, as it has it. */
async function waiting(): Promise<{ to: Recipient; received: () => Promise<unknown[]> }> {
  const code = [
    "import json, os, sys; from towpath_pod.wait import wait",
    "for document in wait(0, sys.argv[1]): print(json.dumps(document), flush=True)",
    "os._exit(0)",
  ].join("\n");
  const env = { PATH: process.env.PATH, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1", TOWPATH_POD_UID: uid };
  const child = spawn("python3", ["-c", code, join(directory, "key")], { env, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  const [line] = await once(createInterface(child.stderr), "line");
  const printed = text(child.stdout);
  const received = async () =>
    (await printed)
      .trimEnd()
      .split("\n")
      .map((each): unknown => JSON.parse(each));
  return { to: { host: "127.0.0.1", port: JSON.parse(line).port, uid }, received };
}
const soon = () => AbortSignal.timeout(10_000);
const handOver = async (to: Recipient, by: Uint8Array, what: HandedOver, signal: AbortSignal) =>
  (await openHandOver(to, by, signal)).send(what);

test("RUN-7 a waiting pod takes from who knows the key, once, also while strangers hold connections to it", async () => {
  const { to, received } = await waiting();
  const strangers = Array.from({ length: 20 }, () => connectPlainly(to.port, to.host).on("error", () => {}));
  await handOver(to, key, document, soon());
  expect(await received()).toMatchObject([document]);
  for (const stranger of strangers) stranger.destroy();
  await expect(handOver(to, key, document, AbortSignal.timeout(300))).rejects.toThrow();
});

test("RUN-7 a waiting pod is given nothing if it is another one or has another key, and takes nothing then", async () => {
  const { to, received } = await waiting();
  const distrusted = "What answers for the waiting pod is not the pod, or has another key.";
  await expect(handOver({ ...to, uid: "other" }, key, document, soon())).rejects.toThrow(distrusted);
  await expect(handOver(to, randomBytes(32), document, soon())).rejects.toThrow(distrusted);
  // It still waits.
  await handOver(to, key, document, soon());
  expect(await received()).toMatchObject([document]);
});

test("RUN-7 a waiting pod takes what an interpreter imports, then its server, once", async () => {
  const { to, received } = await waiting();
  const first = { ...document, more: true } as const;
  await handOver(to, key, first, soon());
  // It has not asked for more yet, or has: it takes one at a time.
  await expect.poll(() => handOver(to, key, document, soon()).then(() => "taken", String)).toBe("taken");
  expect(await received()).toMatchObject([first, document]);
  await expect(handOver(to, key, document, AbortSignal.timeout(300))).rejects.toThrow();
});

test("RUN-7 a waiting pod that doesn't answer is given up in time", async () => {
  const { to } = await waiting();
  for (const child of children) child.kill("SIGSTOP");
  await expect(handOver(to, key, document, AbortSignal.timeout(300))).rejects.toThrow(
    "The waiting pod did not answer in time.",
  );
});
