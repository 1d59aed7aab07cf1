import { reencryptTwoFactors } from "@towpath/auth";
import { openDatabase } from "@towpath/db";
import { createSecretBox, finishRotation, type RootSecrets, rotateMasterKeys } from "@towpath/secrets";
import { parse } from "../commands/parse.ts";
import {
  findDataDirectory,
  newSecret,
  openDataDirectory,
  requireRunningDatabase,
  runningSince,
  writeIdentity,
} from "../instance/instance.ts";
import { CommandError, print, step } from "../terminal/terminal.ts";

type Rotation = {
  readonly secrets: RootSecrets;
  readonly databaseUrl: string;
  /** The operator's next step after the first one. */
  readonly next: string;
  /** Forgets the earlier secrets. */
  readonly forget: () => Promise<void>;
};

/**
 * `towpath rotate-secrets`: encrypts the data keys with the current secret too; `--finish` makes the earlier secrets
 * useless. It may be killed at any time and run again. See "Keys" in docs/operating.md.
 */
export async function rotateSecrets(args: string[]): Promise<number> {
  const { values } = parse("rotate-secrets", args);
  const rotation = process.env.TOWPATH_SECRET
    ? configured(process.env)
    : await local(findDataDirectory(values["data-dir"]), values.finish ?? false);
  const client = openDatabase(rotation.databaseUrl, { maxConnections: 2 });
  try {
    const box = createSecretBox(rotation.secrets);
    const { id } = box.masterKeys.current;
    if (values.finish) {
      await step("Encrypting second factors", () => reencryptTwoFactors(client.db, rotation.secrets));
      const { dataKeys, stripped } = await step("Removing the earlier keys", () => finishRotation(client, box));
      await rotation.forget();
      print(`Only key ${id} opens stored secrets now: ${stripped} data keys changed, ${dataKeys} of them at last.`);
    } else {
      const { dataKeys, values: converted } = await step("Encrypting data keys", () => rotateMasterKeys(client, box));
      const earlier = converted > 0 ? `, and ${converted} values of an earlier release got one` : "";
      print(`${dataKeys} data keys are now encrypted with key ${id} too${earlier}. ${rotation.next}`);
    }
    return 0;
  } finally {
    await client.close();
  }
}

/** For processes that the operator starts one by one. */
function configured(environment: Readonly<Record<string, string | undefined>>): Rotation {
  const { TOWPATH_SECRET: current = "", TOWPATH_PREVIOUS_SECRETS: previous = "", DATABASE_URL } = environment;
  if (!DATABASE_URL) throw new CommandError("TOWPATH_SECRET is set, but DATABASE_URL is not. Set both, or neither.");
  return {
    secrets: {
      current,
      previous: previous
        .split(",")
        .map((each) => each.trim())
        .filter(Boolean),
    },
    databaseUrl: DATABASE_URL,
    next: "When every process has been restarted with it, run ./towpath rotate-secrets --finish.",
    forget: async () => print("Now remove TOWPATH_PREVIOUS_SECRETS from the settings."),
  };
}

/** Of `towpath up`: the secrets are in the data directory. */
async function local(directory: string, isEnd: boolean): Promise<Rotation> {
  const databaseUrl = requireRunningDatabase(
    directory,
    ". Start it with ./towpath up, or name its directory with --data-dir.",
  );
  let identity = await openDataDirectory(directory);
  const isUnderWay = identity.previousSecrets.length > 0;
  if (isEnd && !isUnderWay) throw new CommandError("No secret is being replaced. Begin with ./towpath rotate-secrets.");
  if (isEnd && runningSince(directory) <= Date.parse(identity.rotatedAt ?? ""))
    throw new CommandError("Towpath still runs with the earlier secret. Restart ./towpath up, then run this again.");
  if (!isUnderWay) {
    // Before the database, so that a failure in between doesn't lose the new secret.
    const rotatedAt = new Date().toISOString();
    identity = { ...identity, secret: newSecret(), previousSecrets: [identity.secret], rotatedAt };
    await writeIdentity(directory, identity);
  }
  return {
    secrets: { current: identity.secret, previous: identity.previousSecrets },
    databaseUrl,
    next: "Restart ./towpath up, then run ./towpath rotate-secrets --finish. People will have to sign in again.",
    forget: () => writeIdentity(directory, { ...identity, previousSecrets: [] }),
  };
}
