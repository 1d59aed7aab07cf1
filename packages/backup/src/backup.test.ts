import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { openDatabase } from "@towpath/db";
import { createTestDatabase } from "@towpath/db/testing";
import { git } from "@towpath/git/testing";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { BackupError, createBackup, restoreBackup, type VerifiedBackup, verifyBackup } from "./index.ts";
import { openArchive } from "./read-archive.ts";
import { makeInstance, type TestInstance } from "./testing/instance.ts";
import { type AddPart, writeArchive } from "./write-archive.ts";

const run = promisify(execFile);
const { signal } = new AbortController();
let instance: TestInstance;
let file: string;
let verified: VerifiedBackup;
beforeAll(async () => {
  instance = await makeInstance();
  file = join(instance.directory, "backup.age");
  await createBackup(instance, { file, recipient: instance.recipient, withLayers: false, signal });
  verified = await verify(file);
});
afterAll(() => instance.close());

let count = 0;
const newPath = (name = "path") => {
  count += 1;
  return join(instance.directory, `${name}-${count}`);
};
const verify = (path: string) => verifyBackup({ file: path, identity: instance.identity });
async function emptyDatabase(): Promise<string> {
  const database = await createTestDatabase({ isEmpty: true });
  onTestFinished(() => database.close());
  return database.url;
}
async function tablesIn(databaseUrl: string): Promise<number> {
  const { pool, close } = openDatabase(databaseUrl, { maxConnections: 1 });
  const { rows } = await pool.query(
    "SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname IN ('public', 'drizzle')",
  );
  await close();
  return rows[0].tables;
}
const restore = (dataDirectory: string, databaseUrl: string | null, from = file, checked = verified) =>
  restoreBackup({
    file: from,
    identity: instance.identity,
    verified: checked,
    target: { dataDirectory, databaseUrl },
    signal,
  });

/** A back-up with other parts than those of the instance: `change` returns null to leave one out. */
async function forged(
  change: (name: string, bytes: Buffer) => Buffer | null,
  more: (add: AddPart) => Promise<void> = async () => {},
) {
  const path = newPath("forged");
  await writeArchive(path, instance.recipient, signal, async (add) => {
    const { manifest, parts } = await openArchive({ file, identity: instance.identity });
    const changed = change("manifest.json", Buffer.from(JSON.stringify(manifest)));
    if (changed !== null) await add("manifest.json", [changed]);
    for await (const part of parts) {
      const name =
        part.kind === "file"
          ? `files/${part.file}`
          : part.kind === "table"
            ? `database/${part.table}`
            : `repositories/${"id" in part ? part.id : ""}.${part.kind === "bundle" ? "bundle" : "json"}`;
      const bytes = change(name, await buffer(part.bytes));
      if (bytes !== null) await add(name, [bytes]);
    }
    await more(add);
  });
  return path;
}

test.runIf(isThorough)(
  "OPS-3 processes that are started one by one are backed up with the secret of their settings",
  async () => {
    const dataDirectory = newPath("data");
    await cp(instance.dataDirectory, dataDirectory, { recursive: true });
    await rm(join(dataDirectory, "instance.json"));
    const secret = "t".repeat(43);
    const settings = { ...instance.environment, TOWPATH_SECRET: secret, TOWPATH_PREVIOUS_SECRETS: "u".repeat(43) };
    const ofSettings = { ...instance, dataDirectory, environment: settings };
    const path = newPath("of-settings");
    await createBackup(ofSettings, { file: path, recipient: instance.recipient, withLayers: false, signal });
    const restored = newPath("restored");
    await restore(restored, await emptyDatabase(), path, await verify(path));
    const identity = JSON.parse(await readFile(join(restored, "instance.json"), "utf8"));
    expect(identity).toEqual({ dataVersion: 1, secret, previousSecrets: ["u".repeat(43)] });
  },
);

test("OPS-3 OPS-8 an instance is restored with its database, repositories, keys and settings", async () => {
  expect(verified.manifest).toMatchObject({ servers: 1, layers: false });
  expect(verified.count).toMatchObject({ file: 3, repository: 2, bundle: 1, data: 0, layer: 0 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const dataDirectory = newPath("restored");
  const databaseUrl = await emptyDatabase();
  await restore(dataDirectory, databaseUrl);
  expect((await readdir(dataDirectory)).toSorted()).toEqual([
    "instance.json",
    "operator-token",
    "repositories",
    "settings.env",
  ]);
  for (const name of ["instance.json", "operator-token"])
    expect(await readFile(join(dataDirectory, name), "utf8")).toBe(
      await readFile(join(instance.dataDirectory, name), "utf8"),
    );
  // As a shell reads it; without what belongs to the place, or to the back-up.
  const settings = await run("/bin/sh", ["-c", `. ${join(dataDirectory, "settings.env")}; echo "$TOWPATH_URL"`], {
    env: {},
  });
  expect(settings.stdout).toBe("http://it's.example\n");
  expect(await readFile(join(dataDirectory, "settings.env"), "utf8")).not.toMatch(/DATA_DIR|PASSPHRASE|HOME/);
  const restored = join(dataDirectory, "repositories", `${instance.repositoryId}.git`);
  const clone = newPath("clone");
  await git(instance.directory, "clone", "--quiet", "--branch", "feature", restored, clone);
  expect(await git(clone, "rev-parse", "HEAD", "origin/main")).toBe(`${instance.commit}\n${instance.commit}`);
  expect(await tablesIn(databaseUrl)).toBe(await tablesIn(instance.databaseUrl));
});

test("OPS-8 an existing file, a directory without an instance and a stopped command make no back-up", async () => {
  const options = { recipient: instance.recipient, withLayers: false, signal };
  await expect(createBackup(instance, { ...options, file })).rejects.toThrow("exists. Name another file");
  const nowhere = { ...instance, dataDirectory: newPath() };
  await expect(createBackup(nowhere, { ...options, file: newPath() })).rejects.toThrow("There is no instance in");
  const inNoDirectory = createBackup(instance, { ...options, file: join(newPath(), "x.age") });
  await expect(inNoDirectory).rejects.toThrow(/^It can't be written\. ENOENT: [^\n]+\.$/);
  await expect(inNoDirectory).rejects.toThrow(BackupError);
  const stopped = AbortSignal.abort();
  const unfinished = newPath();
  await expect(createBackup(instance, { ...options, file: unfinished, signal: stopped })).rejects.toThrow("aborted");
  expect(
    (await readdir(instance.directory)).filter((name) => unfinished.endsWith(name.replace(".unfinished", ""))),
  ).toEqual([]);
});

test("OPS-8 half a file, a changed byte, another file and other keys are refused before anything is written", async () => {
  const whole = await readFile(file);
  const flipped = Buffer.from(whole);
  flipped[whole.length - 100] = (flipped[whole.length - 100] ?? 0) ^ 1;
  for (const faulty of [whole.subarray(0, whole.length / 2), flipped, whole.subarray(0, 90), Buffer.from("PK")]) {
    const path = newPath("faulty");
    await writeFile(path, faulty);
    await expect(verify(path)).rejects.toThrow(`${path} is damaged or incomplete, or no back-up of Towpath.`);
  }
  await expect(verify(newPath("absent"))).rejects.toThrow(/absent-\d+ can't be read\. ENOENT: [^\n]+\.$/);
  await expect(verify(instance.directory)).rejects.toThrow("can't be read. EISDIR");
  await expect(verifyBackup({ file, identity: { passphrase: "a passphrase" } })).rejects.toThrow(
    `This passphrase does not open ${file}`,
  );
  const other = await makeInstance();
  onTestFinished(() => other.close());
  await expect(verifyBackup({ file, identity: other.identity })).rejects.toThrow(`These keys do not open ${file}`);
});

test("OPS-8 a back-up of a newer release is refused with both releases named", async () => {
  const change = (edit: (manifest: Record<string, unknown> & { database: object }) => object) =>
    forged((name, bytes) =>
      name === "manifest.json" ? Buffer.from(JSON.stringify(edit(JSON.parse(bytes.toString())))) : bytes,
    );
  const database = { ...verified.manifest.database, release: "9.9.0 (commit f00)" };
  const format = await change((manifest) => ({ ...manifest, format: 2, database, unknown: true }));
  await expect(verify(format)).rejects.toThrow(
    /was made by a newer release of Towpath, 9\.9\.0 \(commit f00\); this is /,
  );
  const schema = await change((manifest) => ({
    ...manifest,
    database: { ...database, newestMigration: Date.now() * 2 },
  }));
  await expect(verify(schema)).rejects.toThrow(/made by a newer release of Towpath, 9\.9\.0 \(commit f00\); this is /);
});

test.runIf(isThorough)("OPS-8 names of parts never become paths, and what lacks a part is refused", async () => {
  for (const name of [
    "../../etc/cron.d/x",
    "/etc/passwd",
    "files/../../x",
    "data/..",
    "repositories/..json",
    "files/unknown",
  ]) {
    const path = await forged(
      (_, bytes) => bytes,
      (add) => add(name, [Buffer.from("x")]),
    );
    await expect(verify(path)).rejects.toThrow(`has a part that is none of a back-up's: ${JSON.stringify(name)}`);
  }
  const keyless = await forged((name, bytes) => (name === "files/instance.json" ? null : bytes));
  await expect(verify(keyless)).rejects.toThrow("lacks the instance's secret");
  await expect(verify(await forged((name, bytes) => (name === "manifest.json" ? null : bytes)))).rejects.toThrow(
    "is damaged",
  );
  // Complete, and not what a database takes: only loading it shows that.
  const tableless = await forged((name, bytes) => (name === "database/project" ? null : bytes));
  const [dataDirectory, databaseUrl] = [newPath("restored"), await emptyDatabase()];
  await expect(restore(dataDirectory, databaseUrl, tableless)).rejects.toThrow("The table project is missing");
  const rows = await forged((name, bytes) => (name === "database/project" ? Buffer.from("nonsense\n") : bytes));
  await expect(restore(dataDirectory, databaseUrl, rows)).rejects.toThrow("invalid input syntax");
  await expect(stat(dataDirectory)).rejects.toThrow("ENOENT");
  expect(await tablesIn(databaseUrl)).toBe(0);
});

test.runIf(isThorough)("OPS-8 what has something is never restored over", async () => {
  const databaseUrl = await emptyDatabase();
  await expect(restore(instance.dataDirectory, databaseUrl)).rejects.toThrow(
    /is not empty \(it has .*instance\.json.*\)\. Nothing was changed/,
  );
  const dataDirectory = newPath("restored");
  await expect(restore(dataDirectory, instance.databaseUrl)).rejects.toThrow("The database is not empty");
  await expect(stat(dataDirectory)).rejects.toThrow("ENOENT");
  await mkdir(dataDirectory);
  const both = await Promise.allSettled([restore(dataDirectory, databaseUrl), restore(dataDirectory, databaseUrl)]);
  const refused = both.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
  expect(refused).toEqual([
    expect.stringContaining(`Another restore into ${dataDirectory} is under way, or one was killed`),
  ]);
  expect(await readdir(dataDirectory)).toContain("instance.json");
});

test.runIf(isThorough && process.getuid?.() === 0)(
  "OPS-8 a disk that is or becomes full leaves nothing of a restore",
  async () => {
    const disk = newPath("disk");
    await mkdir(disk);
    await run("mount", ["-t", "tmpfs", "-o", "size=200m", "tmpfs", disk]);
    onTestFinished(async () => void (await run("umount", ["-l", disk])));
    const bytes = Buffer.alloc(300 * 1024 ** 2);
    const digest = createHash("sha256").update(bytes).digest("hex");
    const large = await forged(
      (_, part) => part,
      (add) => add(`artifacts/${digest}`, [bytes]),
    );
    const dataDirectory = join(disk, "data");
    await expect(restore(dataDirectory, null, large, await verify(large))).rejects.toThrow(
      /has \d+ MB left, and the restored instance needs \d+ MB\. Nothing was restored/,
    );
    // Others may fill it meanwhile.
    await expect(restore(dataDirectory, null, large)).rejects.toThrow(
      "The disk is full. What was restored has been removed again.",
    );
    await expect(
      createBackup(instance, { file: join(disk, "b"), recipient: instance.recipient, withLayers: false, signal }),
    ).resolves.toBeTruthy();
    expect(await readdir(disk)).toEqual(["b"]);
    await restore(dataDirectory, null);
    expect(await readdir(dataDirectory)).toContain("postgres");
  },
);
