import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import type { GitCredential, SourceWarning } from "@towpath/core/ports";
import { createAddressPolicy } from "@towpath/egress";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGitRemotes } from "../remotes.ts";
import { type GitServer, makeRepository, serveGitRepositories } from "../testing/index.ts";

const token: GitCredential = { kind: "token", username: "", token: "s3cret-token" };
const authorization = `Basic ${Buffer.from("git:s3cret-token").toString("base64")}`;
const contents: Record<string, string> = {
  "models/one.bin": "weights of the first model",
  "two.bin": "weights of the second",
  "changed.bin": "what the commit names",
  "lost.bin": "what nobody has",
};
const idOf = (text: string) => createHash("sha256").update(text).digest("hex");
const pointerTo = (text: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${idOf(text)}\nsize ${text.length}\n`;

let directory: string;
let server: GitServer;
let sha: string;
let store: string;
const batches: unknown[] = [];
const downloads: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
/** Another origin, as object stores are. */
const objects = createServer((request, response) => {
  const { url = "", headers } = request;
  downloads.push({ path: url, headers });
  if (url.startsWith("/moved/")) return void response.writeHead(302, { location: url.slice("/moved".length) }).end();
  const found = Object.values(contents).find((text) => url.endsWith(idOf(text)));
  response.end(found === contents["changed.bin"] ? "What the commit doesn't name" : found);
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "towpath-git-lfs-"));
  await mkdir(join(directory, "scratch"));
  const pointers = Object.entries(contents).map(([path, text]) => [path, pointerTo(text)]);
  const rest = { ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "server.py": "print()\n" };
  const files = { ...Object.fromEntries(pointers), ...rest };
  sha = await makeRepository(join(directory, "repositories", "acme", "models.git"), files);
  await new Promise<void>((listening) => objects.listen(0, "127.0.0.1", listening));
  store = `http://127.0.0.1:${(objects.address() as AddressInfo).port}`;
  server = await serveGitRepositories(join(directory, "repositories"), {
    token: "s3cret-token",
    answer: async (request) => {
      if (request.url !== "/acme/models.git/info/lfs/objects/batch") return null;
      if (request.headers.authorization !== authorization) return { status: 401 };
      const asked = JSON.parse((await buffer(request)).toString("utf8")) as {
        objects: { oid: string; size: number }[];
      };
      batches.push(asked);
      // The latter is the connection's: Gitea sends it for uploads.
      const header = { "x-signed": "yes", "Transfer-Encoding": "chunked" };
      const answered = asked.objects.map(({ oid, size }) =>
        oid === idOf(contents["lost.bin"] ?? "")
          ? { oid, size, error: { code: 404, message: "Not here" } }
          : { oid, size, actions: { download: { href: `${store}/moved/${oid}`, header } } },
      );
      return { status: 200, body: JSON.stringify({ transfer: "basic", objects: answered }) };
    },
  });
});
afterAll(async () => {
  await server?.close();
  objects.closeAllConnections();
  objects.close();
  await rm(directory, { recursive: true, force: true });
});

test("SRC-2 files of LFS are fetched with the repository's token, which no object store gets, and checked by their digest", async () => {
  const read = createGitRemotes({
    policy: createAddressPolicy(["127.0.0.1/32"]),
    directory: join(directory, "scratch"),
  }).open({ url: `${server.url}/acme/models.git`, credential: token });
  const warnings: SourceWarning[] = [];
  const stream = await read.tarball(
    { branch: "main", sha },
    { warn: (warning) => void warnings.push(warning), signal: new AbortController().signal },
  );
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const archive = gunzipSync(Buffer.concat(chunks)).toString("latin1");
  for (const path of ["models/one.bin", "two.bin"]) {
    expect(archive).toContain(contents[path]);
    expect(archive).not.toContain(`sha256:${idOf(contents[path] ?? "")}`);
  }
  // The commit's own id and date: only then are builds of one commit alike.
  expect(archive).toContain(`comment=${sha}`);
  for (const path of ["changed.bin", "lost.bin"]) expect(archive).toContain(pointerTo(contents[path] ?? ""));
  expect(warnings.map(({ title, detail }) => `${title}: ${detail}`).toSorted()).toEqual([
    expect.stringMatching(/does not have them \(404\).*lost\.bin/),
    expect.stringMatching(/other content than the commit names.*changed\.bin/),
  ]);
  expect(batches).toHaveLength(1);
  expect(downloads.length).toBeGreaterThanOrEqual(6);
  expect(downloads.map(({ headers }) => headers.authorization)).toEqual(downloads.map(() => undefined));
  expect(downloads.every(({ headers }) => headers["x-signed"] === "yes")).toBe(true);
  await expect.poll(() => readdir(join(directory, "scratch"))).toEqual([]);
});
