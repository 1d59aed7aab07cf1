// `./towpath test corpus [NAME …]`: published servers, deployed with nothing but their name. NAME==VERSION also tries one
// that isn't in the list; as `pypi:NAME==VERSION` where the index has only wheels. Sources and results are kept in
// .towpath/corpus, for the servers of the last run; the instance and everything installed are removed. An interrupted
// run resumes at the same commit; named servers are always tried. Each server is also installed and started alone: this
// stage runs strangers' code, which is installed outside a sandbox. Last, or alone by `own-keys [NAME …]`, servers that
// need a key are tried by two people with keys of their own.
import { execFileSync } from "node:child_process";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { instancePorts, repositoryRoot, startTowpath, type TowpathInstance } from "../instance/towpath-process.ts";
import { removeInstalled, removeOthers } from "./clean-up.ts";
import { judge, rowOf, summaryOf, tableHead, type Verdict } from "./judge.ts";
import { tryKeyedServers, upstreamAddress } from "./own-keys.ts";
import { type CorpusServer, nameOf } from "./server.ts";
import { servers } from "./servers.ts";
import { unpackSource } from "./source.ts";
import { type Alone, listAlone } from "./stdio.ts";
import { tryServer } from "./try-server.ts";

const atTheSameTime = 2;
const directory = join(repositoryRoot, ".towpath", "corpus");
const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: repositoryRoot, encoding: "utf8" }).trim();
const verdictsFile = join(directory, `verdicts-${commit}.jsonl`);

const say = (text: string) => process.stdout.write(`${text}\n`);

async function aloneOf(server: CorpusServer, source: string | null): Promise<Alone> {
  const file = join(directory, "alone", `${server.package}.json`);
  const known = await readFile(file, "utf8").catch(() => null);
  if (known !== null) return JSON.parse(known) as Alone;
  const alone = await listAlone(server, source, join(directory, "scratch"));
  await mkdir(join(directory, "alone"), { recursive: true });
  await writeFile(file, JSON.stringify(alone));
  return alone;
}

async function verdictOf(instance: TowpathInstance, server: CorpusServer): Promise<Verdict> {
  const unpacked = join(directory, "sources", server.package);
  const source = (await unpackSource(server.package, unpacked)) ? unpacked : null;
  const alone = await aloneOf(server, source);
  const tried = await tryServer(instance, server, source);
  await mkdir(join(directory, "output"), { recursive: true });
  const output = tried.deploys.map((each) => each.output).join("\n");
  await writeFile(join(directory, "output", `${server.package}.txt`), output);
  return judge(server, alone, tried);
}

const findServer = (name: string): CorpusServer | null =>
  servers.find((server) => nameOf(server) === name || server.package === name) ?? null;

async function verdictsSoFar(): Promise<Verdict[]> {
  const text = await readFile(verdictsFile, "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Verdict);
}

const all = process.argv.slice(2);
const isKeyedOnly = all[0] === "own-keys";
const names = isKeyedOnly ? [] : all;
const triesKeys = isKeyedOnly || all.length === 0;
const named = names.map((name) => findServer(name) ?? (name.includes("==") ? { package: name } : null));
const unknown = names.filter((_, at) => named[at] === null);
if (unknown.length > 0) {
  say(`The corpus has no server ${unknown.join(", ")}. It has: ${servers.map(nameOf).join(", ")}.`);
  process.exit(2);
}
await mkdir(directory, { recursive: true });
const done = isKeyedOnly || names.length > 0 ? [] : await verdictsSoFar();
const requested = triesKeys && !isKeyedOnly ? servers : named.filter((server) => server !== null);
const waiting = requested.filter((server) => !done.some((each) => each.package === server.package));
await removeOthers(directory, new Set([...servers, ...requested].map((server) => server.package)), verdictsFile);
const verdicts: Verdict[] = [...done];
const upstream = upstreamAddress();
const instance = await startTowpath(join(directory, "data"), await instancePorts(), {
  ...(triesKeys && upstream !== null && { TOWPATH_NETWORK_ALLOW: `${upstream}/32` }),
});
// The next run tries interrupted servers again.
let isStopped = false;
process.once("SIGINT", () => {
  isStopped = true;
  void stop().finally(() => process.exit(130));
});

async function stop(): Promise<void> {
  await instance.stop();
  await removeInstalled(directory);
}

async function work(): Promise<void> {
  for (let server = waiting.shift(); server !== undefined && !isStopped; server = waiting.shift()) {
    const verdict = await verdictOf(instance, server).catch((error: unknown) => failedToTry(server, error));
    if (isStopped) return;
    verdicts.push(verdict);
    if (names.length === 0) await appendFile(verdictsFile, `${JSON.stringify(verdict)}\n`);
    say(rowOf(verdict));
  }
}

async function tryKeys(): Promise<void> {
  for await (const { package: of, isAsItShouldBe, problem } of tryKeyedServers(instance, all.slice(1))) {
    keyed.push(isAsItShouldBe);
    say(`${isAsItShouldBe ? "✓" : "✗"} ${of}, two people with keys of their own ${problem}`.trimEnd());
  }
}

const failedToTry = (server: CorpusServer, error: unknown): Verdict => ({
  package: server.package,
  live: false,
  complete: null,
  seconds: 0,
  diagnosis: null,
  isAsItShouldBe: false,
  problem: `could not be tried: ${error instanceof Error ? error.message : error}`,
});

say(tableHead);
const keyed: boolean[] = [];
try {
  await Promise.all(Array.from({ length: atTheSameTime }, work));
  if (triesKeys && !isStopped) await tryKeys();
} finally {
  await stop();
}
say([tableHead, ...verdicts.map(rowOf), "", summaryOf(verdicts)].join("\n"));
process.exit(verdicts.every(({ isAsItShouldBe }) => isAsItShouldBe) && !keyed.includes(false) ? 0 : 1);
