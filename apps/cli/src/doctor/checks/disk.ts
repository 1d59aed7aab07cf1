import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { bytesOf, diskSizeSchema, standardReserve } from "@towpath/core/operations/host-storage/schema";
import { type Check, type Finding, fix, invalidSettings, ok } from "../finding.ts";

/** A virtual environment with its packages has some ten thousand files. */
const neededFiles = 50_000;

/** Room for bytes and for files where the data directory is, or will be. */
export const disk: Check = async ({ options, settings }) => {
  const reserve = diskSizeSchema.default(standardReserve).safeParse(settings.TOWPATH_DISK_RESERVE);
  if (!reserve.success) return [invalidSettings("disk", { error: reserve.error })];
  const path = await existingPart(options.dataDirectory);
  const { bavail, bsize, blocks, ffree, files } = await statfs(path);
  const needed = bytesOf(reserve.data, blocks * bsize);
  return [
    await writableFinding(path),
    room({ name: "disk", free: bavail * bsize, needed, show: gigabytes, path }),
    // Some file systems have no fixed number of files, and report none.
    files === 0
      ? ok("inodes", "no fixed number")
      : room({ name: "inodes", free: ffree, needed: neededFiles, show: String, path }),
  ];
};

/** The directory itself, or where it will be made. */
async function existingPart(directory: string): Promise<string> {
  const found = await stat(directory).catch(() => null);
  return found !== null || directory === "/" ? directory : await existingPart(dirname(directory));
}

async function writableFinding(path: string): Promise<Finding> {
  try {
    await access(path, constants.W_OK);
    return ok("data directory", path);
  } catch {
    return fix(
      "data directory",
      `this user can't write to ${path}`,
      `chown it to the user who runs Towpath, or name another with --data-dir.`,
    );
  }
}

type Room = {
  readonly name: string;
  readonly free: number;
  readonly needed: number;
  readonly show: (amount: number) => string;
  readonly path: string;
};

function room({ name, free, needed, show, path }: Room): Finding {
  if (free >= needed) return ok(name, `${show(free)} free at ${path}`);
  const remedy =
    "Free some, or move the data directory to a larger disk. docs/retention.md says what is kept how long, and that cache/ may be deleted while Towpath is stopped.";
  return fix(name, `${show(free)} free at ${path}, less than ${show(needed)}: no build starts`, remedy);
}

const gigabytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GB`;
