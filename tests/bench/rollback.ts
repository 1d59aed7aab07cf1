// From a rollback to the earlier version's answer at the gateway: its server awake, and without a process, with and without
// an interpreter that waits for it; then from a promotion to the preview's version in production. Argument: rounds (default 20).
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { createRunnerClient } from "@towpath/runner-api";
import { z } from "zod";
import { pushUrlOf } from "../instance/operator.ts";
import { instancePorts, startTowpath, towpath } from "../instance/towpath-process.ts";
import { callWord, serverSource, writeServer } from "./echo-server.ts";
import { printTable, timed } from "./measure.ts";

const [rounds = "20"] = process.argv.slice(2);
const name = "bench-rollback";
const run = promisify(execFile);
const dataDirectory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
const instance = await startTowpath(dataDirectory, await instancePorts());
const url = `${instance.serversUrl}/${name}/mcp`;
const previewUrl = `${instance.serversUrl}/${name}-feature/mcp`;
const runner = createRunnerClient(
  { kind: "unix", path: join(dataDirectory, "run", "runner.sock") },
  { timeoutMs: 30_000 },
);
const deployedSchema = z.object({ commitMessage: z.string().nullable(), deployment: z.object({ id: z.string() }) });

async function rest<Output>(method: string, path: string, schema: z.ZodType<Output>, body?: unknown): Promise<Output> {
  const token = (await readFile(join(dataDirectory, "operator-token"), "utf8")).trim();
  const response = await fetch(instance.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return schema.parse(await response.json());
}

async function answers(address: string, word: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while ((await callWord(address).catch(() => "")) !== word) {
    if (Date.now() > deadline) throw new Error(`${word} doesn't answer after 60 s`);
    await sleep(5);
  }
}

/** A clone of the server's repository, to push other versions from. */
async function clone(): Promise<(word: string, branch: string) => Promise<void>> {
  const directory = join(await mkdtemp(join(tmpdir(), "towpath-bench-clone-")), "clone");
  await run("git", ["clone", "--quiet", await pushUrlOf(instance, name), directory]);
  const git = (...args: string[]) =>
    run("git", ["-C", directory, "-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args]);
  return async (word, branch) => {
    await git("checkout", "--quiet", "-B", branch);
    await writeFile(join(directory, "server.py"), serverSource(word));
    await git("commit", "--quiet", "--all", "--message", word);
    await git("push", "--quiet", "origin", branch);
  };
}

const deploymentsOf = async (branch: string) =>
  (
    await rest(
      "GET",
      `/api/v1/projects/${name}/deployments?branch=${branch}`,
      z.object({ data: z.array(deployedSchema) }),
    )
  ).data;

async function expectInterpreter(): Promise<void> {
  const deadline = Date.now() + 60_000;
  while ((await runner.prewarm()).ready === 0) {
    if (Date.now() > deadline) throw new Error("no interpreter waits after 60 s");
    await sleep(100);
  }
}

type Version = { readonly word: string; readonly id: string };

/** Rolls back and forth between two versions; before each rollback, `prepare` puts the next version into its state. */
async function rollBack(versions: readonly [Version, Version], prepare: (next: Version) => Promise<void>) {
  const values: number[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    const next = versions[round % 2 === 0 ? 0 : 1];
    await prepare(next);
    values.push(
      await timed(async () => {
        await rest("POST", `/api/v1/deployments/${next.id}/live`, z.object({}));
        await answers(url, next.word);
      }),
    );
  }
  return values;
}

const p95 = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;

try {
  const first = await writeServer("first", "fastmcp==4.1.2\n");
  const { status, stdout, stderr } = await towpath(
    "deploy",
    first,
    "--name",
    name,
    "--public",
    "--data-dir",
    dataDirectory,
  );
  if (status !== 0) throw new Error(stdout + stderr);
  const push = await clone();
  await answers(url, "first");
  await push("second", "main");
  await answers(url, "second");
  const [second, one] = (await deploymentsOf("main")).map(({ deployment }) => deployment.id);
  const versions = [
    { word: "first", id: one ?? "" },
    { word: "second", id: second ?? "" },
  ] as const;
  const awake = await rollBack(versions, async ({ id }) => void (await runner.ensure(id)));
  // As after a minute of rest: the start of the version before has used up the interpreter that waited.
  const stopped = await rollBack(versions, async ({ id }) => {
    await runner.stop(id);
    await expectInterpreter();
  });
  const cold = await rollBack(versions, async ({ id }) => void (await runner.stop(id)));
  await push("third", "feature");
  await answers(previewUrl, "third");
  const [preview] = await deploymentsOf("feature");
  const promoted: number[] = [];
  for (let round = 0; round < Math.min(5, Number(rounds)); round++) {
    promoted.push(
      await timed(async () => {
        await rest("POST", `/api/v1/deployments/${preview?.deployment.id}/promote`, z.object({}));
        await answers(url, "third");
      }),
    );
    await rest("POST", `/api/v1/deployments/${second}/live`, z.object({}));
    await answers(url, "second");
  }
  printTable("To the earlier version's answer", [
    { what: "rollback, its server awake", values: awake, target: "p95 ≤ 2000" },
    { what: "rollback, without a process, an interpreter waits", values: stopped, target: "p95 ≤ 2000" },
    { what: "rollback right after a start, so that none waits", values: cold, target: "p95 ≤ 2000" },
    { what: "promotion of a preview", values: promoted },
  ]);
  process.stdout.write(
    `p95: awake ${p95(awake).toFixed(0)} ms, an interpreter waits ${p95(stopped).toFixed(0)} ms, none waits ${p95(cold).toFixed(0)} ms\n`,
  );
} finally {
  await runner.close();
  await instance.stop();
  await rm(dataDirectory, { recursive: true });
}
