import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { shortDirectory } from "../testing/short-directory.ts";
import { removeFolder } from "./remove-folder.ts";

const root = process.getuid?.() === 0;

test.skipIf(!root)("RUN-1 a folder that a server has closed is removed all the same, also without root", async () => {
  const folder = await shortDirectory();
  await chmod(folder, 0o777);
  process.seteuid?.(65_534);
  try {
    await mkdir(`${folder}/shared/closed/inner`, { recursive: true });
    await writeFile(`${folder}/shared/closed/inner/file`, "x");
    await chmod(`${folder}/shared/closed/inner`, 0o000);
    await chmod(`${folder}/shared/closed`, 0o000);
    await removeFolder(`${folder}/shared`);
    await expect(stat(`${folder}/shared`)).rejects.toMatchObject({ code: "ENOENT" });
    await removeFolder(`${folder}/shared`);
  } finally {
    process.seteuid?.(0);
    await removeFolder(folder);
  }
});
