import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { removeFolder } from "@towpath/runtime";

/** Folders of running builds, below `builds/`: named after the build and the process, so that leftovers are known. */
export async function makeScratch(dataDirectory: string, buildId: string): Promise<string> {
  const folder = join(dataDirectory, "builds", `${buildId}.${process.pid}.${(await startTime(process.pid)) ?? "0"}`);
  await removeFolder(folder);
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Removes what builds of processes that are gone have left. Resolves to how many. */
export async function cleanScratch(dataDirectory: string): Promise<number> {
  const root = join(dataDirectory, "builds");
  let removed = 0;
  for (const name of await readdir(root).catch(() => [])) {
    const [, pid = "", start = ""] = /^.+\.(\d+)\.(\d+)$/.exec(name) ?? [];
    if (pid !== "" && (await startTime(Number(pid))) === start) continue;
    await removeFolder(join(root, name));
    removed += 1;
  }
  return removed;
}

/** When a process started, in the kernel's ticks; null when there is none with this id. Ids alone repeat. */
async function startTime(pid: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  // The second field is the program's name in parentheses and may hold spaces; the 22nd is the start time.
  return text?.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}
