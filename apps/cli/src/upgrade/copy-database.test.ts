import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { copyDatabase } from "./copy-database.ts";

const at = (address: string) => `postgresql://ada:secret@${address}`;
const [port, socket] = [at("127.0.0.1:1/towpath"), at("/towpath?host=/nonexistent")];

/** A directory with a pg_dump that prints what Debian's does for a newer PostgreSQL. */
async function withOldDump(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-dump-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const lines = [
    "#!/bin/sh",
    "echo 'pg_dump: error: aborting because of server version mismatch' >&2",
    "echo 'pg_dump: detail: server version: 18.1; pg_dump version: 15.14 (Debian 15.14-0+deb12u1)' >&2",
    "exit 1",
  ];
  await writeFile(join(directory, "pg_dump"), lines.join("\n"), { mode: 0o700 });
  return directory;
}

test.each([
  [
    "for which pg_dump is too old",
    withOldDump,
    /newer one, is not installed \(server version: 18\.1; pg_dump version: 15\.14 \(Debian [^)]+\)\)\. Nothing was changed/,
  ],
  [
    "without pg_dump",
    async () => "/nonexistent",
    /pg_dump, of your PostgreSQL's release or a newer one, is not installed\. Nothing was/,
  ],
  [
    "that doesn't answer at its socket",
    async () => process.env.PATH ?? "",
    /socket "\/nonexistent(?!.*secret)/,
    socket,
  ],
  [
    "that doesn't answer",
    async () => process.env.PATH ?? "",
    /could not be copied: (?!.*secret)(.|\n)+\. Nothing was changed\./,
  ],
])(
  "OPS-10 an external database %s is not upgraded without a copy, unless that is asked for",
  async (_, pathOf, text, databaseUrl = port) => {
    const directory = await mkdtemp(join(tmpdir(), "towpath-copy-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    vi.stubEnv("PATH", await pathOf());
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const refused = copyDatabase({ release: "1", databaseUrl, clusterDirectory: null }, directory);
    await expect(refused).rejects.toThrow(text);
    await expect(refused).rejects.toThrow("./towpath upgrade --without-copy");
    vi.restoreAllMocks();
    expect(await readdir(join(directory, "before-upgrade"))).toEqual([]);
  },
);
