import { execFile } from "node:child_process";
import { mkdir, readdir, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A directory on a file system of its own, with what a power cut does to it. */
export type CuttableDisk = {
  readonly path: string;
  /** Kills these processes and all below them, loses what is not on the disk, and mounts it again. */
  cut(roots: readonly number[]): Promise<void>;
  unmount(): Promise<void>;
};

/**
 * Kills everything below some processes, then shuts the file system down (EXT4_IOC_SHUTDOWN) without flushing its journal:
 * dirty pages and changes of names that the journal hasn't committed are lost, and nothing can be written any more.
 */
const cutProgram = `
import fcntl, os, signal, struct, sys
disk = os.open(sys.argv[1], os.O_RDONLY)
killed = set(map(int, sys.argv[2:]))
parents = {}
for name in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{name}/stat") as file:
            stat = file.read()
        parents[int(name)] = int(stat[stat.rindex(")") + 2:].split()[1])
    except OSError:
        pass
while more := {pid for pid, parent in parents.items() if parent in killed} - killed:
    killed |= more
for pid in killed:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
fcntl.ioctl(disk, 0x8004587D, struct.pack("I", 2))
`;

/**
 * Makes one; only root can. Mounted with `noauto_da_alloc`, so that ext4 doesn't flush a renamed file by itself, as other
 * file systems don't. What a real cut may also take isn't lost here: what a disk has confirmed and keeps in its memory.
 */
export async function cuttableDisk(directory: string): Promise<CuttableDisk> {
  const path = join(directory, "disk");
  let [image, cuts] = [`${path}.img`, 0];
  await writeFile(image, "");
  await truncate(image, 16 * 1024 ** 3);
  await run("/usr/sbin/mkfs.ext4", ["-q", "-F", "-E", "nodiscard", "--", image]);
  await mkdir(path);
  const mount = () => run("mount", ["-t", "ext4", "-o", "loop,noauto_da_alloc", "--", image, path]);
  const unmount = async () => void (await run("umount", ["--recursive", "--lazy", "--", path]));
  await mount();
  return {
    path,
    unmount,
    async cut(roots) {
      await run("python3", ["-c", cutProgram, path, ...roots.map(String)]);
      await unmount();
      // What the loop device had begun to write.
      await sleep(500);
      // A copy, because other processes of the machine may hold the mount, which stays shut down.
      const before = image;
      image = `${path}-${++cuts}.img`;
      await run("cp", ["--sparse=always", "--", before, image]);
      await rm(before);
      await mount();
    },
  };
}

/** The machine has another boot id afterwards: what belongs to this one is given to an earlier one. */
export async function pretendReboot(dataDirectory: string): Promise<void> {
  const cache = join(dataDirectory, "cache");
  for (const name of await readdir(join(cache, "layers")).catch(() => []))
    if (name.startsWith("boot-")) await rename(join(cache, "layers", name), join(cache, "layers", "boot-before"));
  await writeFile(join(cache, "uv-boot"), "before");
}
