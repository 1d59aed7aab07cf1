import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { access, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

// The program that gets a server's layers, as an ordinary process: the cluster's tests try it in pods.

const packages = fileURLToPath(new URL("../../../../../python", import.meta.url));
const run = promisify(execFile);
let directory: string;
let archive: Buffer;
let content: Buffer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tw-fetch-"));
  await mkdir(join(directory, "layer"));
  content = randomBytes(3_000_000);
  await writeFile(join(directory, "layer/file"), content);
  await run("tar", ["--create", "--zstd", `--file=${join(directory, "archive")}`, "-C", join(directory, "layer"), "."]);
  archive = await readFile(join(directory, "archive"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

type Answer = (request: IncomingMessage, response: ServerResponse, attempt: number) => void;

/** Fetches a layer from a service: what is reported, the file that was unpacked, and the ranges that were asked for. */
async function fetched(answer: Answer, digest = createHash("sha256").update(archive).digest("hex")) {
  const ranges: (string | undefined)[] = [];
  const service = createServer((request, response) => {
    ranges.push(request.headers.range);
    answer(request, response, ranges.length);
  });
  service.listen(0, "127.0.0.1");
  await once(service, "listening");
  onTestFinished(() => void service.close());
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/layer`;
  const here = await mkdtemp(join(directory, "fetch-"));
  // Where that can't be had, the layer is unpacked all the same.
  const layer = { url, digest, directory: "code", spread: "lib/python3.11/site-packages" };
  for (const name of ["secret", "layers"]) await mkdir(join(here, name));
  await writeFile(join(here, "secret/layers.json"), JSON.stringify([layer]));
  await writeFile(join(here, "secret/start.json"), "{}");
  // Code of an interpreter that waits beside it could make such a link.
  await writeFile(join(here, "other"), "as before");
  await symlink(join(here, "other"), join(here, "start.json.new"));
  const code = `import sys; from towpath_pod import fetch, report
fetch.report = lambda what: print(what["layer"], what["detail"])
sys.exit(fetch.fetch(*sys.argv[1:]))`;
  const argv = ["-c", code, ...["secret", "layers", "start.json"].map((name) => join(here, name))];
  const { stdout } = await run("python3", argv, { env: { ...process.env, PYTHONPATH: packages } }).catch(
    (error: { stdout: string }) => error,
  );
  const isStarted = await access(join(here, "start.json")).then(
    () => true,
    () => false,
  );
  const unpacked = await readFile(join(here, "layers/code/file")).catch(() => null);
  expect(await readFile(join(here, "other"), "utf8")).toBe("as before");
  return { ranges, reported: stdout.trim(), isStarted, isWhole: unpacked?.equals(content) ?? false };
}

const startOf = (request: IncomingMessage) => Number(/\d+/.exec(request.headers.range ?? "0")?.[0]);
const isBroken = (count: number) => (attempt: number) => attempt <= count;

/** Sends the rest, but breaks the first connections after a million bytes, so that the answer looks complete or not. */
const breaking =
  (isEarly: (attempt: number) => boolean, end: "reset" | "close"): Answer =>
  (request, response, attempt) => {
    const start = startOf(request);
    const rest = archive.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, { "content-length": rest.length, connection: "close" });
    if (!isEarly(attempt)) return void response.end(rest);
    response.write(rest.subarray(0, 1_000_000), () => {
      if (end === "reset") return void response.socket?.resetAndDestroy();
      return void response.socket?.end();
    });
  };

test.each(["reset", "close"] as const)("RUN-7 a layer whose connection breaks is continued there: %s", async (end) => {
  const found = await fetched(breaking(isBroken(2), end));
  expect(found).toMatchObject({ reported: "", isStarted: true, isWhole: true });
  // A reset may lose what the other side has received.
  if (end === "close") expect(found.ranges).toEqual([undefined, "bytes=1000000-", "bytes=2000000-"]);
  expect(found.ranges.filter((each) => each !== undefined)).toHaveLength(2);
});

test("RUN-7 a layer is whole also from a service that ignores ranges or answers 503 at first", async () => {
  const ignoring: Answer = (_request, response, attempt) => {
    response.writeHead(200, { "content-length": archive.length, connection: "close" });
    if (attempt > 1) return void response.end(archive);
    response.write(archive.subarray(0, 1_000_000), () => void response.socket?.end());
  };
  expect(await fetched(ignoring)).toMatchObject({ reported: "", isStarted: true, isWhole: true });
  const late: Answer = (_request, response, attempt) =>
    void (attempt < 3 ? response.writeHead(503).end() : response.end(archive));
  expect(await fetched(late)).toMatchObject({ reported: "", isStarted: true, isWhole: true });
});

test("RUN-7 what never comes whole, isn't there or is other bytes is reported as such, and starts nothing", async () => {
  const nothing: Answer = (_request, response) => {
    response.writeHead(200, { "content-length": archive.length, connection: "close" }).flushHeaders();
    response.socket?.end();
  };
  const silent = await fetched(nothing);
  expect([silent.reported, silent.isStarted]).toEqual([expect.stringMatching(/^unavailable .*Incomplete/), false]);
  const absent = await fetched((_request, response) => response.writeHead(404).end());
  expect([absent.reported, absent.isStarted, absent.ranges]).toEqual(["not_found HTTP 404", false, [undefined]]);
  const other = await fetched((_request, response) => void response.end(archive), "0".repeat(64));
  expect([other.reported.split(" ")[0], other.isStarted]).toEqual(["digest_mismatch", false]);
});
