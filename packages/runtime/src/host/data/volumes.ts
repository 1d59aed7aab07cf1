import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, statfs, truncate, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { SandboxError } from "../../port/errors.ts";
import type { DataUsage } from "../../port/host.ts";

// A server's `/data` (BLD-19): an ext4 file system of fixed size in a file, mounted on the host, so that the kernel
// enforces the quota. The file is sparse and grows with its content.

const run = promisify(execFile);
const commandMs = 60_000;
const safeId = /^[\w-]{1,64}$/;
const suffix = ".img";
const selfTestId = "self-test";

export type VolumesConfig = {
  /** For the files. */
  readonly directory: string;
  /** They are mounted below it. */
  readonly mountDirectory: string;
  /** Size of each new one; existing ones keep theirs. */
  readonly bytes: number;
};

/** The volumes of this host. Only root can mount them. */
export class Volumes {
  readonly #config: VolumesConfig;
  readonly #opening = new Map<string, Promise<string>>();

  constructor(config: VolumesConfig) {
    this.#config = config;
  }

  /**
   * The directory of a volume on this host; creates and mounts it first if necessary. All instances share it.
   *
   * @throws SandboxError `data_unavailable`, whose message is for the server's owner
   */
  open(id: string): Promise<string> {
    if (!safeId.test(id)) throw new SandboxError("invalid_spec", "A volume's id is not valid in a path.");
    const opening = this.#opening.get(id) ?? this.#open(id).finally(() => this.#opening.delete(id));
    this.#opening.set(id, opening);
    return opening;
  }

  /** Whether this host can keep volumes: creates one and mounts it. */
  async selfTest(): Promise<{ readonly ok: boolean; readonly detail: string }> {
    const id = selfTestId;
    try {
      // A killed platform may have left it.
      await this.remove(id);
      await this.#make(id, 16 * 1024 ** 2);
      await this.#mount(id);
      return { ok: true, detail: `a file system of ${Math.round(this.#config.bytes / 1024 ** 2)} MiB for each server` };
    } catch (error) {
      return { ok: false, detail: `${reasonOf(error)} It takes root, e2fsprogs and loop devices.` };
    } finally {
      await this.remove(id).catch(() => {});
    }
  }

  /** Usage of the mounted volumes. */
  async usage(): Promise<DataUsage[]> {
    const mounted = await this.#mounted();
    return await Promise.all(
      (await this.list())
        .filter((id) => mounted.has(this.#mountPoint(id)))
        .map(async (id) => {
          const { blocks, bfree, bsize } = await statfs(this.#mountPoint(id));
          return { id, usedBytes: (blocks - bfree) * bsize, capacityBytes: blocks * bsize };
        }),
    );
  }

  /** Ids of the volumes on this host. */
  async list(): Promise<string[]> {
    const names = await readdir(this.#config.directory).catch(() => []);
    const ids = names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length));
    return ids.filter((id) => id !== selfTestId);
  }

  /** Where a volume is on this host; `mountPoint`: null while it isn't mounted. */
  async place(id: string): Promise<{ readonly file: string; readonly mountPoint: string | null }> {
    const mountPoint = this.#mountPoint(id);
    return { file: this.#file(id), mountPoint: (await this.#mounted()).has(mountPoint) ? mountPoint : null };
  }

  /** Makes a volume of a complete file on the same disk, in place of an earlier one. */
  async adopt(id: string, image: string): Promise<void> {
    if (!safeId.test(id)) throw new SandboxError("invalid_spec", "A volume's id is not valid in a path.");
    await mkdir(this.#config.directory, { recursive: true, mode: 0o700 });
    await rename(image, this.#file(id));
  }

  /** Deletes a volume. Processes that have it open keep it until they end. */
  async remove(id: string): Promise<void> {
    await this.#unmount(id);
    await rm(this.#file(id), { force: true });
    await rm(`${this.#file(id)}.new`, { force: true });
  }

  /** Unmounts all; running servers keep theirs. */
  async close(): Promise<void> {
    const mounted = await this.#mounted();
    const ids = (await this.list()).filter((id) => mounted.has(this.#mountPoint(id)));
    await Promise.all(ids.map((id) => this.#unmount(id).catch(() => {})));
  }

  async #open(id: string): Promise<string> {
    try {
      const exists = await stat(this.#file(id)).catch(() => null);
      if (exists === null) await this.#make(id, this.#config.bytes);
      if (!(await this.#mounted()).has(this.#mountPoint(id))) await this.#mount(id);
      const directory = `${this.#mountPoint(id)}/data`;
      await mkdir(directory, { recursive: true, mode: 0o700 });
      return directory;
    } catch (error) {
      const why = `its lasting directory /data can't be provided with a limit on this host (${reasonOf(error)})`;
      const message = `${why}. Ask the operator, who sees more on the Instance page, or turn Data off in the settings.`;
      throw new SandboxError("data_unavailable", message, { cause: error });
    }
  }

  /** Complete or absent: created under another name. */
  async #make(id: string, bytes: number): Promise<void> {
    await mkdir(this.#config.directory, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(this.#config.directory);
    if (bavail * bsize < bytes) throw new Error("The disk has too little room.");
    const made = `${this.#file(id)}.new`;
    await writeFile(made, "", { mode: 0o600 });
    await truncate(made, bytes);
    await command("/usr/sbin/mkfs.ext4", ["-q", "-F", "-m", "0", "-E", "nodiscard", "--", made]);
    await rename(made, this.#file(id));
  }

  async #mount(id: string): Promise<void> {
    await mkdir(this.#mountPoint(id), { recursive: true, mode: 0o711 });
    const options = "loop,nosuid,nodev,noatime,errors=remount-ro";
    await command("/usr/bin/mount", ["-t", "ext4", "-o", options, "--", this.#file(id), this.#mountPoint(id)]);
  }

  async #unmount(id: string): Promise<void> {
    if ((await this.#mounted()).has(this.#mountPoint(id)))
      await command("/usr/bin/umount", ["-l", "--", this.#mountPoint(id)]);
    await rmdir(this.#mountPoint(id)).catch(() => {});
  }

  async #mounted(): Promise<ReadonlySet<string>> {
    const lines = (await readFile("/proc/self/mounts", "utf8")).split("\n");
    // It writes a space as \040, and so on.
    const unescaped = (path: string) =>
      path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    return new Set(lines.map((line) => unescaped(line.split(" ")[1] ?? "")));
  }

  #file = (id: string) => `${this.#config.directory}/${id}${suffix}`;
  #mountPoint = (id: string) => `${this.#config.mountDirectory}/${id}`;
}

async function command(file: string, argv: readonly string[]): Promise<void> {
  await run(file, argv, { env: { LC_ALL: "C" }, timeout: commandMs, cwd: "/" });
}

/** In one line, without paths of the host. */
function reasonOf(error: unknown): string {
  const stderr = typeof error === "object" && error !== null && "stderr" in error ? String(error.stderr) : "";
  const text = stderr.trim().split("\n").at(-1) || (error instanceof Error ? error.message : String(error));
  return text.replace(/\/\S+/g, "…").slice(0, 200);
}
