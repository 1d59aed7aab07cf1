import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Check, type Finding, fix, notNeeded, ok } from "../finding.ts";

const name = "certificates of Caddy";
const dayMs = 86_400_000;
const maxListed = 5;

/** Whether Caddy, which `up --domain` runs, gets certificates: those that it has, and names for which it was refused one. */
export const caddyCertificates: Check = async ({ options, running }) => {
  const { https, dataDirectory } = options;
  if (https === null) return [notNeeded(name, "Caddy runs with --domain only")];
  const stored = await storedCertificates(join(dataDirectory, "caddy/certificates"));
  const log = await linesOf(join(dataDirectory, "logs/caddy.log"));
  const refused = refusals(log, Date.now() - dayMs).map((refusal) => describeRefusal(refusal, stored));
  if (refused.length > 0) return refused;
  const own = stored.find(({ host }) => host === https.domain);
  // Those of servers are renewed when somebody connects.
  if (running !== null && own !== undefined && isOverdue(own))
    return [
      fix(
        name,
        `that of ${https.domain} ends on ${dateOf(own.until)} and should have been renewed`,
        "See logs/caddy.log in the data directory, and restart Towpath.",
      ),
    ];
  return [
    stored.length === 0 ? notNeeded(name, "none yet: each is fetched with the first connection") : listed(stored),
  ];
};

type Stored = { readonly host: string; readonly from: number; readonly until: number };

/** Caddy stores each as `{authority}/{host}/{host}.crt`. */
async function storedCertificates(directory: string): Promise<readonly Stored[]> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const paths = names.filter((path) => path.endsWith(".crt")).map((path) => join(directory, path));
  const pems = await Promise.all(paths.map((path) => readFile(path)));
  return pems.flatMap((pem) => {
    const { subjectAltName, validFrom, validTo } = new X509Certificate(pem);
    const hosts = (subjectAltName ?? "").split(", ").map((entry) => entry.replace(/^DNS:/, ""));
    return hosts.map((host) => ({ host, from: Date.parse(validFrom), until: Date.parse(validTo) }));
  });
}

/** Caddy renews in the last third of a certificate's time. */
const isOverdue = ({ from, until }: Stored) => until - Date.now() < (until - from) / 6;

const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);

function listed(stored: readonly Stored[]): Finding {
  const texts = stored.toSorted((a, b) => a.until - b.until).map(({ host, until }) => `${host} until ${dateOf(until)}`);
  const others = texts.length > maxListed ? [`${texts.length - maxListed} others`] : [];
  return ok(name, [...texts.slice(0, maxListed), ...others].join(", "));
}

async function linesOf(path: string): Promise<readonly string[]> {
  const texts = await Promise.all([`${path}.1`, path].map((each) => readFile(each, "utf8").catch(() => "")));
  return texts.join("").split("\n");
}

const endSchema = z.object({
  /** Seconds. */
  ts: z.number(),
  msg: z.enum([
    "could not get certificate from issuer",
    "certificate obtained successfully",
    "certificate renewed successfully",
  ]),
  identifier: z.string(),
  error: z.string().optional(),
});
type End = z.infer<typeof endSchema>;

/** Of each name the last attempt, if it failed since then. */
function refusals(lines: readonly string[], since: number): readonly End[] {
  const last = new Map<string, End>();
  for (const line of lines.filter((each) => each.includes('"identifier"'))) {
    const end = endSchema.safeParse(jsonOf(line));
    if (end.success) last.set(end.data.identifier, end.data);
  }
  return [...last.values()].filter(({ ts, error }) => error !== undefined && ts * 1000 > since);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function describeRefusal({ identifier, error = "" }: End, stored: readonly Stored[]): Finding {
  const held = stored.find(({ host }) => host === identifier);
  const problem =
    held === undefined
      ? `${identifier} has none`
      : `that of ${identifier}, until ${dateOf(held.until)}, could not be renewed`;
  return fix(
    name,
    `${problem}: ${error}`,
    "Check that the name leads to this machine and that ports 80 and 443 are open to the internet. Caddy tries again by itself.",
  );
}
