import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { createAddressPolicy } from "@towpath/egress";
import { expect, onTestFinished, test } from "vitest";
import { createGitRemotes } from "./remotes.ts";
import { makeRepository, serveGitRepositories } from "./testing/index.ts";

test("SRC-2 a host with a certificate of a company's authority is refused with what to do, and read once that is trusted here, also by git", async () => {
  const directory = await mkdtemp(join(tmpdir(), "towpath-git-authorities-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const host = "git.towpath.invalid";
  const { authority, tls } = await makeCertificate(directory, host);
  const sha = await makeRepository(join(directory, "repositories/acme/echo"), { "server.py": "one" });
  const server = await serveGitRepositories(join(directory, "repositories"), { tls });
  onTestFinished(server.close);
  const scratch = join(directory, "scratch");
  await mkdir(scratch);
  const remotes = createGitRemotes({
    policy: createAddressPolicy(["127.0.0.1/32"]),
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    directory: scratch,
  });
  const remote = { url: `https://${host}:${new URL(server.url).port}/acme/echo`, credential: null };
  const before = getCACertificates("default");
  await expect(remotes.open(remote).refs()).rejects.toMatchObject({
    code: "upstream_unavailable",
    message: expect.stringMatching(/not signed by an authority that is trusted here\. .*ask the operator/),
  });
  // As NODE_EXTRA_CA_CERTS and the host's store at a start.
  setDefaultCACertificates([...before, authority]);
  onTestFinished(() => setDefaultCACertificates(before));
  expect((await remotes.open(remote).refs()).branches.get("main")).toBe(sha);
  expect(await remotes.open(remote).commit({ branch: "main", sha })).toMatchObject({ sha });
  const files = await readdir(scratch);
  expect(files).toEqual([expect.stringMatching(/^authorities-[0-9a-f]{16}\.pem$/)]);
  await rm(join(scratch, files[0] ?? ""));
  expect((await remotes.open(remote).refs()).branches.get("main")).toBe(sha);
});

/** A certificate for a host, signed by an authority made for it. */
async function makeCertificate(directory: string, host: string) {
  const openssl = (...args: string[]) => promisify(execFile)("openssl", args, { cwd: directory });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  await openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Company", "-days", "2");
  await openssl("req", ...key, "-keyout", "host.key", "-out", "host.csr", "-subj", `/CN=${host}`);
  await writeFile(join(directory, "names"), `subjectAltName=DNS:${host}\n`);
  const by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  await openssl("x509", "-req", "-in", "host.csr", "-out", "host.pem", ...by);
  const read = (name: string) => readFile(join(directory, name), "utf8");
  return { authority: await read("ca.pem"), tls: { key: await read("host.key"), cert: await read("host.pem") } };
}
