import { spawn } from "node:child_process";
import { mkdir, readFile, stat } from "node:fs/promises";
import { SandboxError } from "../../port/errors.ts";
import { removeDirectory } from "../process/remove-directory.ts";
import type { SocketDirectory } from "../server/start-server.ts";

// The only directory of the host that a server may write to. As root it is a file system in memory of its own, so that
// a server cannot fill the host's disk with it.
const options = "size=1m,nr_inodes=32,nosuid,nodev,noexec,mode=0711";
const sourcePrefix = "towpath:";

/** An instance's directory that exists already. */
export function existingSocketDirectory(own: string, root: boolean): SocketDirectory {
  return { own, shared: `${own}/shared`, remove: () => unmountAndRemove(own, root) };
}

/** Creates an instance's directory. `owner` names this process in the mount, so that a later one can sweep it. */
export async function makeSocketDirectory(own: string, root: boolean, owner: string): Promise<SocketDirectory> {
  await mkdir(own, { recursive: true, mode: 0o711 });
  if (root) {
    // The group that the run directory passes on, if it is set-group-ID: see `shareWithGroup`.
    const withGroup = `${options},gid=${(await stat(own)).gid}`;
    await run("/usr/bin/mount", ["-t", "tmpfs", "-o", withGroup, "--", `${sourcePrefix}${owner}`, own]);
  }
  const directory = existingSocketDirectory(own, root);
  await mkdir(directory.shared, { recursive: true, mode: 0o700 });
  return directory;
}

async function unmountAndRemove(own: string, mounted: boolean): Promise<void> {
  // Lazy: a gateway may hold a connection a moment longer.
  if (mounted) await run("/usr/bin/umount", ["-l", "--", own]).catch(() => {});
  await removeDirectory(own);
}

type IsInUse = (owner: string, path: string) => Promise<boolean>;

/** Mounted directories below `parent` that are not in use, according to their owner and path. Empty: anywhere. */
export async function unusedSocketDirectories(parent: string, isInUse: IsInUse): Promise<readonly string[]> {
  const unused: string[] = [];
  for (const line of (await readFile("/proc/self/mounts", "utf8")).split("\n")) {
    const [source = "", path = ""] = line.split(" ").map(unescapeMount);
    if (!source.startsWith(sourcePrefix) || !path.startsWith(`${parent}/`)) continue;
    if (!(await isInUse(source.slice(sourcePrefix.length), path))) unused.push(path);
  }
  return unused;
}

/** Removes them. */
export async function sweepSocketDirectories(parent: string, isInUse: IsInUse): Promise<void> {
  const unused = await unusedSocketDirectories(parent, isInUse);
  // Hundreds may be left: one process unmounts all. It goes on after one that fails.
  if (unused.length > 0) await run("/usr/bin/umount", ["-l", "--", ...unused]).catch(() => {});
  for (const path of unused) await removeDirectory(path);
}

/** /proc/self/mounts writes a space as \040, and so on. */
function unescapeMount(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function run(file: string, argv: readonly string[]): Promise<void> {
  const child = spawn(file, argv, { stdio: ["ignore", "ignore", "pipe"], env: {} });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString("utf8");
  });
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new SandboxError("setup_failed", error.message, { cause: error })));
    child.once("close", (code) =>
      code === 0 ? resolve() : reject(new SandboxError("setup_failed", `${file}: ${complaint.trim()}`)),
    );
  });
}
