import { constants } from "node:fs";
import { chmod, type FileHandle, lstat, mkdir, open, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { VolumeEntry } from "../../port/builds.ts";
import { SandboxError, UnreadableOutput } from "../../port/errors.ts";

// Copies between builds and the directories that are their volumes, where a tenant's steps may have put links anywhere.
// No step runs meanwhile, so checking each directory before entering it is enough.

const modes = { read: 0o644, execute: 0o755, shared: 0o666 } as const;

/** See `BuildWorkspace.write`. Steps run as other users, so permissions are set regardless of this process's umask. */
export async function writeEntries(
  volume: string,
  entries: Iterable<VolumeEntry> | AsyncIterable<VolumeEntry>,
): Promise<void> {
  const made = new Set<string>();
  for await (const entry of entries) {
    const parts = partsOf(entry.path);
    await makeDirectories(volume, entry.kind === "directory" ? parts : parts.slice(0, -1), made);
    const path = join(volume, entry.path);
    if (entry.kind === "link") await symlink(entry.target, path);
    if (entry.kind === "file") await writeNew(path, modes[entry.access], entry.content);
  }
}

/** See `BuildWorkspace.read`. */
export async function readEntry(volume: string, path: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts = partsOf(path);
  const unreadable = () => new UnreadableOutput(`${path} is not an ordinary file, or too large.`);
  for (let length = 1; length < parts.length; length += 1) {
    const found = await lstat(join(volume, ...parts.slice(0, length))).catch(() => null);
    if (!found?.isDirectory()) throw unreadable();
  }
  // Doesn't block on a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(volume, path), flags).catch((error: NodeJS.ErrnoException) => {
    throw ["ENOENT", "ELOOP", "ENXIO", "EACCES"].includes(error.code ?? "") ? unreadable() : error;
  });
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > maxBytes) throw unreadable();
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function partsOf(path: string): readonly string[] {
  const parts = path.split("/");
  if (parts.some((part) => ["", ".", ".."].includes(part)))
    throw new SandboxError("invalid_spec", `${JSON.stringify(path)} is no path in a volume.`);
  return parts;
}

/** `made`: directories that are known to exist. */
async function makeDirectories(volume: string, parts: readonly string[], made: Set<string>): Promise<void> {
  if (made.has(join(volume, ...parts))) return;
  for (let length = 1; length <= parts.length; length += 1) {
    const path = join(volume, ...parts.slice(0, length));
    if (made.has(path)) continue;
    const isNew = (await mkdir(path).catch(ignoreExisting)) !== "exists";
    if (isNew) await chmod(path, 0o755);
    else if (!(await lstat(path)).isDirectory())
      throw new SandboxError("invalid_spec", `${JSON.stringify(parts.join("/"))} leads through a file or link.`);
    made.add(path);
  }
}

/** Always a new file: a step may have the old one open, or it may be a link. */
async function writeNew(path: string, mode: number, content: string | AsyncIterable<Uint8Array>): Promise<void> {
  const create = () => open(path, "wx");
  const found = await create().catch(ignoreExisting);
  let file: FileHandle;
  if (found === "exists") {
    await rm(path);
    file = await create();
  } else file = found;
  try {
    await file.chmod(mode);
    if (typeof content === "string") await file.writeFile(content);
    else for await (const chunk of content) await file.writeFile(chunk);
  } finally {
    await file.close();
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): "exists" {
  if (error.code !== "EEXIST") throw error;
  return "exists";
}
