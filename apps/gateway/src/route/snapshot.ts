import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Route, routeSchema } from "../read-model/routes.ts";

const fileName = "routes.json";
const snapshotSchema = z.object({ routes: z.array(routeSchema) });

/** Keeps the last known routes on disk, for a start without the database (GW-10). Replaced by rename. */
export async function writeSnapshot(directory: string, routes: readonly Route[]): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, fileName);
  await writeFile(`${path}.new`, JSON.stringify({ routes }), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** The routes of the last snapshot, or null when there is none that can be read. */
export async function readSnapshot(directory: string): Promise<Route[] | null> {
  try {
    return snapshotSchema.parse(JSON.parse(await readFile(join(directory, fileName), "utf8"))).routes;
  } catch {
    return null;
  }
}
