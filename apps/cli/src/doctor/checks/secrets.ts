import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "@towpath/db";
import { readAppliedSchema } from "@towpath/db/release";
import { compareKeys, createSecretBox } from "@towpath/secrets";
import { rootSecretsFrom, secretSettings } from "@towpath/secrets/config";
import { z } from "zod";
import { findIdentity } from "../../instance/instance.ts";
import { CommandError } from "../../terminal/terminal.ts";
import type { Facts } from "../facts.ts";
import { type Check, type Finding, fix, fixAs, invalidSettings, notNeeded, ok, reasonOf } from "../finding.ts";

const name = "secret";
const restore = 'Restore it from a back-up: see "Keys" in docs/operating.md.';

/** The files with the instance's secrets, and whether its key opens what the database has. */
export const secrets: Check = async (facts) => {
  const { dataDirectory } = facts.options;
  // Otherwise its data directory has no identity.
  if (facts.isSeparate) return [await keyFinding(facts)];
  try {
    const identity = findIdentity(dataDirectory);
    if (identity === null && facts.settings.TOWPATH_SECRET === undefined)
      return [notNeeded(name, `./towpath up makes one in ${dataDirectory}`)];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [fixAs(name, error.message, restore)];
  }
  return [...modeFindings(dataDirectory), await keyFinding(facts)];
};

/** They are for the owner only. */
function modeFindings(directory: string): readonly Finding[] {
  const files = ["instance.json", "operator-token"].map((file) => join(directory, file));
  const open = files.filter((file) => existsSync(file) && (statSync(file).mode & 0o077) !== 0);
  if (open.length === 0) return [];
  return [
    fix("files with secrets", `others on this machine can read ${open.join(" and ")}`, `chmod 600 ${open.join(" ")}`),
  ];
}

async function keyFinding({ settings, database }: Facts): Promise<Finding> {
  const parsed = z.object(secretSettings).safeParse(settings);
  if (!parsed.success) return invalidSettings(name, parsed);
  if (database === null) return notNeeded(name, "compared with the database while that runs");
  const { masterKeys } = createSecretBox(rootSecretsFrom(parsed.data));
  const client = openDatabase(database.url, { maxConnections: 1 });
  try {
    // A release that migrates it first may have changed the tables.
    const applied = await readAppliedSchema(client.pool);
    if (applied === null || applied.isNewer) return notNeeded(name, "the database has no data of this release");
    await compareKeys(client.pool, masterKeys);
    return ok(name, `key ${masterKeys.current.id} opens the stored secrets`);
  } catch (error) {
    if (error instanceof Error && error.name === "WrongMasterKey") return fixAs(name, error.message, restore);
    return notNeeded(name, `not compared with the database: ${reasonOf(error)}`);
  } finally {
    await client.close();
  }
}
