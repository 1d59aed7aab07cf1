import { existsSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "@towpath/db";
import { adoptRepository, firstAuthors } from "@towpath/git";
import { type Forge, type ForgeRepository, readForge } from "./read-forge.ts";
import { storeMoved } from "./store-moved.ts";

/*
 * Earlier releases without a GitHub App ran a stand-in for GitHub, the local forge. Its repositories become
 * repositories of this instance (decision 055): each is copied and renamed into place, then one transaction makes the
 * rows, then the forge's directory is renamed. Each step can be repeated, so a killed move resumes.
 */

/** The author of the terminal's commits, from before the forge recorded who made a repository. */
const terminalEmail = "cli@towpath.localhost";

const databaseOf = (forgeDirectory: string) => join(forgeDirectory, "forge.sqlite");

type Instance = {
  readonly dataDirectory: string;
  readonly databaseUrl: string;
  /** Address of the dashboard. */
  readonly url: string;
};

/**
 * Moves the repositories of an earlier release's forge, before any process of the instance runs.
 *
 * @returns what to print, line by line; empty when there is nothing to move
 */
export async function moveForge({ dataDirectory, databaseUrl, url }: Instance): Promise<readonly string[]> {
  const directory = join(dataDirectory, "forge");
  if (!existsSync(databaseOf(directory))) return [];
  const forge = readForge(databaseOf(directory));
  const database = openDatabase(databaseUrl, { maxConnections: 1 });
  try {
    const { moved, left } = await storeMoved(database.pool, forge, async (repository, id) => {
      const from = join(directory, "repositories", `${repository.id}.git`);
      await adoptRepository(join(dataDirectory, "repositories"), { id, from });
      return (await isTerminals(repository, from)) ? "deploy" : "forge";
    });
    const kept = await freeName(join(dataDirectory, "forge-moved"));
    const lines = described(forge, { moved, left, kept, url });
    await writeFile(join(directory, "moved.txt"), `${lines.join("\n")}\n`);
    await rename(directory, kept);
    return lines;
  } finally {
    await database.close();
  }
}

async function isTerminals({ madeByTerminal }: ForgeRepository, directory: string): Promise<boolean> {
  if (madeByTerminal !== null) return madeByTerminal;
  const authors = await firstAuthors(directory);
  return authors.size === 1 && authors.has(terminalEmail);
}

async function freeName(path: string): Promise<string> {
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? path : `${path}-${count}`;
    if (!existsSync(candidate)) return candidate;
  }
}

type Outcome = Awaited<ReturnType<typeof storeMoved>> & { readonly kept: string; readonly url: string };

function described(forge: Forge, { moved, left, kept, url }: Outcome): readonly string[] {
  const pulls = forge.repositories.flatMap(({ owner, name, openPulls }) =>
    openPulls.map((pull) => `${owner}/${name} ${pull}`),
  );
  return [
    "The local forge of earlier releases is gone. Its repositories are repositories of this instance now; push to:",
    ...moved.map(({ from, orgSlug, name }) => `  ${from}: ${url}/git/${orgSlug}/${name}.git`),
    "Git asks for a user name, which may be any, and for a password, which is an API key of yours.",
    ...(left.length === 0 ? [] : [`No organization uses ${left.join(", ")}: not moved.`]),
    ...(pulls.length === 0 ? [] : [`These pull requests have ended: ${pulls.join("; ")}.`]),
    `What the forge held is kept in ${kept} until you delete it.`,
  ];
}
