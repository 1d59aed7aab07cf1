import { chmod, readdir, rm } from "node:fs/promises";

/**
 * Removes a folder whose parts may be closed or read-only, such as a sealed layer or what a server left behind. Never
 * follows a link; does nothing when it is not there.
 */
export async function removeDirectory(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
  } catch (error) {
    // A platform that is not root must open closed folders first.
    if (!(error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM")))
      throw error;
    await openDirectories(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

async function openDirectories(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await openDirectories(`${directory}/${entry.name}`);
  }
}
