import { chmod, readdir, rm } from "node:fs/promises";

/**
 * Removes a directory even if parts of it are unreadable or read-only, such as a sealed layer or a server's files.
 * Never follows links; does nothing if it doesn't exist.
 */
export async function removeDirectory(directory: string): Promise<void> {
  try {
    await rm(directory, { recursive: true, force: true });
  } catch (error) {
    // Without root, unreadable directories must be made accessible first.
    if (!(error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM")))
      throw error;
    await makeAccessible(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

async function makeAccessible(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeAccessible(`${directory}/${entry.name}`);
  }
}
