import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { DataCopies } from "../../port/host.ts";
import type { Volumes } from "./volumes.ts";

/** The copy's name in its archive, and in the directory where it is made. */
const member = "volume";

/**
 * `$1` the file, `$2` where it is mounted or nothing, `$3` the copy. Writes wait while the file system is frozen, so the copy
 * is made on the same disk first, and shares blocks where that can. One at a time, as freezing doesn't nest.
 */
const copyScript = `
exec 9<"$1" && flock 9 || exit 1
if [ -n "$2" ]; then
  fsfreeze --freeze "$2" || exit 1
  trap 'fsfreeze --unfreeze "$2"' EXIT
fi
timeout 120 cp --reflink=auto --sparse=always -- "$1" "$3"
`;

const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** Copies volumes as sparse files. `scratch`: a directory on their disk, which need not exist. */
export function volumeCopies(volumes: Volumes, scratch: string): DataCopies {
  const inScratch = async <Result>(work: (directory: string) => Promise<Result>): Promise<Result> => {
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    const directory = await mkdtemp(join(scratch, "data-"));
    return await work(directory).finally(() => rm(directory, { recursive: true, force: true }));
  };
  return {
    list: () => volumes.list(),
    read: (id, write) =>
      inScratch(async (directory) => {
        await copyAtOneMoment(volumes, id, join(directory, member));
        const args = ["--create", "--sparse", "--format=posix", `--directory=${directory}`, "--", member];
        await withTar(args, (tar) => write(tar.stdout));
      }),
    write: (id, bytes) =>
      inScratch(async (directory) => {
        const args = ["--extract", "--no-same-owner", `--directory=${directory}`, "--", member];
        await withTar(args, (tar) => pipeline(bytes, tar.stdin).catch(unlessEndedEarly));
        const [only, ...others] = await readdir(directory);
        const isFile = only === member && (await lstat(join(directory, member))).isFile();
        if (!isFile || others.length > 0) throw new Error(`The copy of the volume ${id} has other content.`);
        await volumes.adopt(id, join(directory, member));
      }),
  };
}

async function copyAtOneMoment(volumes: Volumes, id: string, copy: string): Promise<void> {
  for (;;) {
    const { file, mountPoint } = await volumes.place(id);
    // Detached: a signal that ends this process must not end the script while a file system is frozen.
    const script = spawn("/bin/sh", ["-c", copyScript, "copy", file, mountPoint ?? "", copy], {
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
      env,
    });
    await succeeded(script, `copying the volume ${id}`);
    // Its server may have started meanwhile: then the copy may be torn.
    if (mountPoint !== null || (await volumes.place(id)).mountPoint === null) return;
  }
}

type Child = ReturnType<typeof startTar>;

const startTar = (args: readonly string[]) => spawn("tar", args, { stdio: ["pipe", "pipe", "pipe"], env });

async function withTar(args: readonly string[], move: (tar: Child) => Promise<void>): Promise<void> {
  const tar = startTar(args);
  const ended = succeeded(tar, "tar");
  try {
    await Promise.all([ended, move(tar)]);
  } finally {
    tar.kill("SIGKILL");
    await ended.catch(() => {});
  }
}

/** tar stops reading at the archive's end mark; its exit status reports real failures. */
function unlessEndedEarly(error: NodeJS.ErrnoException): void {
  if (error.code !== "ERR_STREAM_PREMATURE_CLOSE" && error.code !== "EPIPE") throw error;
}

/** @throws Error with the last line that it printed on stderr */
async function succeeded(child: ChildProcess, what: string): Promise<void> {
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-2000);
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${what} failed: ${stderr.trim().split("\n").at(-1) || `status ${code}`}`);
}
