import { chmod, link, mkdir, readdir, readlink, symlink } from "node:fs/promises";

const slash = Buffer.from("/");
const inDirectory = (directory: Buffer, name: Buffer) => Buffer.concat([directory, slash, name]);

/**
 * Fills an empty directory with a layer: copies its directories and links, and hard-links its files. The layer must not
 * change meanwhile, and must be on the same file system. False, with a part of it placed, if it has more entries than
 * `maxEntries`.
 */
export async function placeCode(layer: string, target: string, maxEntries: number): Promise<boolean> {
  let entries = 0;
  const place = async (from: Buffer, to: Buffer): Promise<boolean> => {
    const list = await readdir(from, { withFileTypes: true, encoding: "buffer" });
    entries += list.length;
    if (entries > maxEntries) return false;
    const placed = await Promise.all(
      list.map(async (entry) => {
        const [source, copy] = [inDirectory(from, entry.name), inDirectory(to, entry.name)];
        if (entry.isSymbolicLink()) await symlink(await readlink(source, { encoding: "buffer" }), copy);
        else if (entry.isFile()) await link(source, copy);
        else if (entry.isDirectory()) {
          await mkdir(copy);
          // Regardless of this process's umask.
          await chmod(copy, 0o755);
          return await place(source, copy);
        }
        return true;
      }),
    );
    return placed.every((each) => each);
  };
  return await place(Buffer.from(layer), Buffer.from(target));
}
