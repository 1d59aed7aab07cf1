import { stat } from "node:fs/promises";
import { createBackup, type VerifiedBackup, verifyBackup } from "@towpath/backup";
import { parse } from "../commands/parse.ts";
import { findDataDirectory } from "../instance/instance.ts";
import { output, print, step, UsageError } from "../terminal/terminal.ts";
import { localTime } from "../terminal/time.ts";
import { interrupted } from "../up/interrupted.ts";
import { identityOf, recipientOf } from "./keys.ts";
import { withLocalInstance } from "./local-instance.ts";
import { asCommandProblem } from "./problems.ts";

/** `towpath backup FILE` and `towpath backup verify FILE`. */
export async function backup(args: string[]): Promise<number> {
  const { values, positionals } = parse("backup", args);
  const [first = "", second] = positionals;
  if (second !== undefined && first !== "verify")
    throw new UsageError(`${first} is not verify. See towpath help backup.`);
  if (second !== undefined) return verify(second, values);
  if (values.identity !== undefined)
    throw new UsageError("--identity is for verify only. To make a back-up: --recipient.");
  const recipient = await recipientOf(values);
  const { signal } = interrupted();
  const withLayers = values["with-layers"] ?? false;
  const options = { file: first, recipient, withLayers, signal };
  const made = await step("Backing up", () =>
    withLocalInstance(findDataDirectory(values["data-dir"]), (instance) => createBackup(instance, options)),
  ).catch(asCommandProblem);
  const { size } = await stat(first);
  const { manifest, contents } = made;
  output(
    { file: first, bytes: size, servers: manifest.servers, parts: contents.length, createdAt: manifest.createdAt },
    () =>
      print(
        `${first} has ${serversIn(manifest.servers)}${withLayers ? " with their layers" : ""}: ${inMegabytes(size)}. Check it with ./towpath backup verify ${first}.`,
      ),
  );
  return 0;
}

async function verify(
  file: string,
  values: Parameters<typeof identityOf>[0] & { readonly recipient?: readonly string[] | undefined },
): Promise<number> {
  if (values.recipient) throw new UsageError("--recipient is for making a back-up. To read one: --identity.");
  const identity = await identityOf(values);
  const { signal } = interrupted();
  const verified = await step("Checking every part", () => verifyBackup({ file, identity, signal })).catch(
    asCommandProblem,
  );
  const { manifest, count, bytes } = verified;
  output({ file, ...manifest, database: { release: manifest.database.release }, count, bytes }, () =>
    print(`${file} is complete: ${describe(verified)}`),
  );
  return 0;
}

/** Such as "4 servers, 2 repositories, /data of 1 server; made at 2026-11-26 09:30 by 0.1.0 (…)." */
export function describe({ manifest, count }: VerifiedBackup): string {
  const what = [
    serversIn(manifest.servers),
    `${count.repository} ${count.repository === 1 ? "repository" : "repositories"}`,
    ...(count.data > 0 ? [`/data of ${serversIn(count.data)}`] : []),
    ...(manifest.layers ? [`${count.layer} layers`] : []),
  ];
  const { release } = manifest.database;
  return `${what.join(", ")}; made at ${localTime(manifest.createdAt)} by ${release ?? "a release that left no name"}.`;
}

const serversIn = (count: number) => `${count} ${count === 1 ? "server" : "servers"}`;

const inMegabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
