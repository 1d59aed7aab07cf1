import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { processStartTime, removeFolder } from "@towpath/runtime";

/** Folders of running builds, below `builds/`: named after the build and the process, so that leftovers are known. */
export async function makeScratch(dataDirectory: string, buildId: string): Promise<string> {
  const folder = join(
    dataDirectory,
    "builds",
    `${buildId}.${process.pid}.${(await processStartTime(process.pid)) ?? "0"}`,
  );
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
    if (pid !== "" && (await processStartTime(Number(pid))) === start) continue;
    await removeFolder(join(root, name));
    removed += 1;
  }
  return removed;
}
