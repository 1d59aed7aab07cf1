import { addresses } from "./checks/addresses.ts";
import { bucket } from "./checks/bucket.ts";
import { caddyCertificates } from "./checks/caddy.ts";
import { certificates } from "./checks/certificates.ts";
import { clock } from "./checks/clock.ts";
import { database } from "./checks/database.ts";
import { disk } from "./checks/disk.ts";
import { gitHubApps } from "./checks/github-apps.ts";
import { isolation } from "./checks/isolation.ts";
import { kernel } from "./checks/kernel.ts";
import { leftovers } from "./checks/leftovers.ts";
import { mail } from "./checks/mail.ts";
import { models } from "./checks/models.ts";
import { names } from "./checks/names.ts";
import { oidc } from "./checks/oidc.ts";
import { pooler } from "./checks/pooler.ts";
import { ports } from "./checks/ports.ts";
import { processes } from "./checks/processes.ts";
import { programs } from "./checks/programs.ts";
import { secrets } from "./checks/secrets.ts";
import type { Facts } from "./facts.ts";
import { type Check, type Finding, fix, reasonOf } from "./finding.ts";

/** In the order in which they are printed: the machine, the network, the database, what others run, the instance. */
export const checks: Readonly<Record<string, Check>> = {
  kernel,
  programs,
  isolation,
  disk,
  clock,
  ports,
  names,
  certificates,
  caddyCertificates,
  addresses,
  database,
  pooler,
  secrets,
  bucket,
  gitHubApps,
  oidc,
  mail,
  models,
  processes,
  leftovers,
};

/** Longer than any check waits for somebody's answer. */
const withinMs = 60_000;

/** All findings, in that order. */
export async function runChecks(facts: Facts): Promise<readonly Finding[]> {
  const found = await Promise.all(
    Object.entries(checks).map(([name, check]) =>
      limited(check(facts)).catch((error: unknown) => [
        fix(
          name,
          `it could not be checked: ${reasonOf(error)}`,
          "Try again with --verbose, and report it if it stays.",
        ),
      ]),
    ),
  );
  return found.flat();
}

async function limited<Result>(work: Promise<Result>): Promise<Result> {
  const time = Promise.withResolvers<never>();
  const timer = setTimeout(() => time.reject(new Error(`no answer within ${withinMs / 1000} s`)), withinMs);
  return await Promise.race([work, time.promise]).finally(() => clearTimeout(timer));
}
