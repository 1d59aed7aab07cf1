import { access, mkdir, readFile, rmdir, writeFile } from "node:fs/promises";

export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

export async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return "";
  }
}

/** False if the file doesn't exist or the kernel rejects the value. */
export async function write(path: string, value: string, onlyExisting = false): Promise<boolean> {
  try {
    await writeFile(path, value, { flag: onlyExisting ? "r+" : "w" });
    return true;
  } catch {
    return false;
  }
}

export async function makeDirectory(path: string): Promise<string | null> {
  try {
    await mkdir(path, { recursive: true });
    return path;
  } catch {
    return null;
  }
}

export async function killDirectories(directories: readonly string[]): Promise<void> {
  for (const path of directories) {
    // The v1 freezer must thaw processes before they can be killed; v2 kills frozen ones.
    await write(`${path}/freezer.state`, "THAWED", true);
    if (await write(`${path}/cgroup.kill`, "1", true)) return;
  }
  for (const path of directories)
    for (const line of (await read(`${path}/cgroup.procs`)).split("\n")) {
      const pid = Number(line);
      // The kernel lists processes of another namespace as 0, which for kill(2) is this process's own group.
      if (pid === 0) continue;
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // Gone already.
      }
    }
}

export async function removeDirectory(path: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      // A killed process leaves its group a moment after its parent is notified.
      await new Promise((resolve) => setTimeout(resolve, 5 + attempt));
    }
  }
}
