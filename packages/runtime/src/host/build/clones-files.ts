import { randomUUID } from "node:crypto";
import { constants, copyFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Whether a file of one directory can be copied to the other so that both share their bytes (Btrfs, XFS, bcachefs). */
export async function clonesFiles(from: string, to: string): Promise<boolean> {
  const name = `.clone-${randomUUID()}`;
  const [source, target] = [join(from, name), join(to, name)];
  try {
    // File systems may store a few bytes outside of a block, which can't be shared.
    await writeFile(source, Buffer.alloc(64 * 1024, 1), { flag: "wx" });
    await copyFile(source, target, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    return true;
  } catch {
    return false;
  } finally {
    await Promise.all([source, target].map((path) => rm(path, { force: true })));
  }
}
