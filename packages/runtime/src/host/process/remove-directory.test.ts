import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { shortDirectory } from "../../testing/short-directory.ts";
import { removeDirectory } from "./remove-directory.ts";

const root = process.getuid?.() === 0;

test.skipIf(!root)("RUN-1 a directory that a server made unreadable is removed, even without root", async () => {
  const directory = await shortDirectory();
  await chmod(directory, 0o777);
  process.seteuid?.(65_534);
  try {
    await mkdir(`${directory}/shared/closed/inner`, { recursive: true });
    await writeFile(`${directory}/shared/closed/inner/file`, "x");
    await chmod(`${directory}/shared/closed/inner`, 0o000);
    await chmod(`${directory}/shared/closed`, 0o000);
    await removeDirectory(`${directory}/shared`);
    await expect(stat(`${directory}/shared`)).rejects.toMatchObject({ code: "ENOENT" });
    await removeDirectory(`${directory}/shared`);
  } finally {
    process.seteuid?.(0);
    await removeDirectory(directory);
  }
});
