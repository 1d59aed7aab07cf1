import { artifactsConfigSchema } from "@towpath/artifacts";
import { openDatabase } from "@towpath/db";
import { clockSkewMs, maxSkewMs } from "@towpath/db/clock";
import type { Facts } from "../facts.ts";
import { type Check, fix, notNeeded, ok } from "../finding.ts";

const withinMs = 5_000;

type Reading = { readonly from: string; readonly skewMs: number };

/** This machine's clock, against the first of the others that answers. */
export const clock: Check = async (facts) => {
  for (const read of [ofDatabase, ...addressesOf(facts).map((url) => () => ofService(url))]) {
    const reading = await read(facts).catch(() => null);
    if (reading === null) continue;
    const seconds = Math.round(Math.abs(reading.skewMs) / 1000);
    if (Math.abs(reading.skewMs) <= maxSkewMs) return [ok("clock", `as of ${reading.from}`)];
    const relation = reading.skewMs > 0 ? "ahead of" : "behind";
    return [
      fix(
        "clock",
        `${seconds} s ${relation} ${reading.from}`,
        "Synchronize the clock: timedatectl set-ntp true, or apt-get install systemd-timesyncd",
      ),
    ];
  }
  return [notNeeded("clock", "nothing answers that it could be compared with")];
};

/** What an instance talks to anyway. */
function addressesOf({ settings }: Facts): readonly string[] {
  const bucket = artifactsConfigSchema.safeParse(settings);
  const index = settings.UV_DEFAULT_INDEX ?? settings.UV_INDEX_URL ?? "https://pypi.org/simple/";
  return [settings.TOWPATH_OIDC_ISSUER, bucket.data?.url, settings.GITHUB_API_URL, index].filter(
    (url) => url !== undefined && URL.canParse(url),
  ) as readonly string[];
}

/** An embedded database has this clock. */
async function ofDatabase({ options, database }: Facts): Promise<Reading | null> {
  if (options.databaseUrl === null || database === null) return null;
  const client = openDatabase(database.url, { maxConnections: 1 });
  try {
    return { from: "the database", skewMs: await clockSkewMs(client.pool) };
  } finally {
    await client.close();
  }
}

function ofService(url: string): Promise<Reading | null> {
  return measured(new URL(url).host, async () => {
    const answer = await fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(withinMs) });
    const date = answer.headers.get("date");
    return date === null ? null : new Date(date);
  });
}

async function measured(from: string, read: () => Promise<Date | null>): Promise<Reading | null> {
  const before = Date.now();
  const other = await read();
  return other && { from, skewMs: (before + Date.now()) / 2 - other.getTime() };
}
