import { readFile, rm, writeFile } from "node:fs/promises";
import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openDataDirectory, startTimeOf } from "../instance/instance.ts";
import { collectPrinted, type Printed } from "../testing/printed.ts";
import { backup } from "./backup.ts";
import { restore } from "./restore.ts";

const passphrase = "correct horse battery staple";
const publicKey = "age1ejespc87z4ese6stddhqf5q8gze4k07ucepf0wdv6xhjv45w23ds26924y";
const privateKey = "AGE-SECRET-KEY-12362VAYU0AEEP9VTQDA8LFTCFP4KW92HK7CHAEFQLDPQZQ4WWCCSV045NW";
let directory = "";
let database: TestDatabase;
let printed: Printed;
beforeEach(async () => {
  directory = await shortDirectory();
  database = await createTestDatabase();
  vi.stubEnv("TOWPATH_BACKUP_PASSPHRASE", "");
  vi.stubEnv("DATABASE_URL", "");
  printed = collectPrinted();
  await openDataDirectory(`${directory}/data`);
  const addresses = { url: "http://localhost:3000", serverUrl: "http://localhost:8080/{name}" };
  const running = { pid: process.pid, startTime: startTimeOf(process.pid), ...addresses, databaseUrl: database.url };
  await writeFile(`${directory}/data/running.json`, JSON.stringify(running));
  await writeFile(`${directory}/passphrase`, `${passphrase}\n`);
  await writeFile(`${directory}/key.txt`, `# made for this test\n${privateKey}\n`);
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await database.close();
  await rm(directory, { recursive: true, force: true });
});

const file = () => `${directory}/backup.age`;
const of = () => ["--data-dir", `${directory}/data`, "--passphrase-file", `${directory}/passphrase`];

test("OPS-6 OPS-8 a running instance's back-up goes into another PostgreSQL; its secret comes with it", async () => {
  expect(await backup([file(), "--data-dir", `${directory}/data`, "--recipient", publicKey])).toBe(0);
  expect(printed.text).toContain(`${file()} has 0 servers: `);
  const empty = await createTestDatabase({ isEmpty: true });
  try {
    const into = ["--data-dir", `${directory}/new`, "--identity", `${directory}/key.txt`];
    expect(await restore([file(), ...into, "--database-url", empty.url])).toBe(0);
    expect(printed.text).toContain(`Start it: DATABASE_URL=ITS_ADDRESS ./towpath up --data-dir ${directory}/new`);
    expect(await readFile(`${directory}/new/instance.json`, "utf8")).toBe(
      await readFile(`${directory}/data/instance.json`, "utf8"),
    );
    const { rows } = await empty.pool.query("SELECT count(*)::int AS projects FROM project");
    expect(rows).toEqual([{ projects: 0 }]);
  } finally {
    await empty.close();
  }
});

test("OPS-6 OPS-8 nothing is written in the clear, with a weak passphrase or for what is no key", async () => {
  const refused: readonly (readonly [readonly string[], string])[] = [
    [
      ["--data-dir", `${directory}/data`],
      "so it needs a passphrase (--passphrase-file or TOWPATH_BACKUP_PASSPHRASE) or a key (--recipient",
    ],
    [[...of(), "--recipient", publicKey], "a passphrase or recipients, not both"],
    [["--recipient", "ssh-ed25519"], "ssh-ed25519 is no public key of age"],
    [["--passphrase-file", `${directory}/absent`], "can't be read"],
    [["--identity", "key.txt"], "--identity is for verify only"],
  ];
  for (const [args, text] of refused) await expect(backup([file(), ...args])).rejects.toThrow(text);
  await writeFile(`${directory}/passphrase`, "short\n");
  await expect(backup([file(), ...of()])).rejects.toThrow("at least 12 characters");
  await expect(backup(["verify", file(), "--identity", `${directory}/passphrase`])).rejects.toThrow(
    "has no private key of age",
  );
  await expect(backup(["check", file()])).rejects.toThrow("check is not verify");
  await expect(readFile(file())).rejects.toThrow("ENOENT");
});
