import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@towpath/db";

import { createOrganization, signUp, type Visitor } from "../e2e/browser.ts";
import { operatorPost } from "../instance/operator.ts";
import { databaseUrlOf } from "../instance/processes.ts";
import { type TowpathInstance, towpath } from "../instance/towpath-process.ts";
import { callServer, signInClients } from "./call-servers.ts";
import { type Pool, writeStatusDays, writeWeek } from "./write-week.ts";

export const names = {
  server: "tide-gauges",
  desk: "harbor-desk",
  locks: "lock-times",
  portal: "skippers",
  /** The preview that is released gradually. */
  preview: "forecast",
  /** Its build fails. */
  broken: "trip-planner",
} as const;

/** What scenes need. */
export type Filled = {
  readonly instance: TowpathInstance;
  readonly pool: Pool;
  readonly slug: string;
  /** The organization's page. */
  readonly home: string;
  /** The page of the server on most pictures. */
  readonly server: string;
};

const firstMessage = "First gauges";

/** Hours before now at which the versions of the server were deployed. */
const deployedHoursAgo = {
  [firstMessage]: 176,
  "Deploy from the command line": 175,
  "Find free moorings": 71,
  "Book a mooring": 6,
} as const;

/**
 * Makes an organization with three servers, a portal, a preview, a failed build, a week of calls with errors, and a
 * signed-in person. Everything that Towpath makes is real; the past is written to the database.
 */
export async function fillInstance(instance: TowpathInstance, { page }: Visitor): Promise<Filled> {
  await signUp(page, instance.url);
  const slug = await createOrganization(page, "Lowland Waterways");
  const { pool } = openDatabase(databaseUrlOf(instance.dataDirectory), { maxConnections: 2 });
  const { rows } = await pool.query("SELECT id FROM organization WHERE slug = $1", [slug]);
  const organizationId: string = rows[0].id;
  await showAfternoon(pool);
  await pool.query(`UPDATE "user" SET email = 'ada@lowland.example'`);
  const people = await addPeople(pool, organizationId);
  await deployVersions(instance);
  for (const name of [names.desk, names.locks]) await deploy(instance, sourceOf(name), name, "--public");
  await pool.query("UPDATE project SET is_public = true WHERE organization_id = $1", [organizationId]);
  await operatorPost(instance, `organizations/${slug}/portals`, {
    name: names.portal,
    servers: [{ server: names.server, tools: ["water_level", "lock_status"] }, { server: names.desk }],
  });
  await moveDeploymentsBack(pool);
  await writeWeeks(pool, people);
  // Errors then show the arguments of their calls.
  await pool.query("UPDATE project SET capture_payloads = true WHERE name = $1", [names.server]);
  const { key } = await operatorPost(instance, `organizations/${slug}/api-keys`, { name: "Nightly report" });
  await callServer(instance, names.server, String(key));
  await signInClients(instance, names.server, page);
  await writeStatusDays(pool, organizationId);
  const home = `${instance.url}/${slug}`;
  return { instance, pool, slug, home, server: `${home}/${names.server}` };
}

const sourceOf = (name: string) => join(import.meta.dirname, "servers", name);

/** Shows times in a zone where it is between 14:00 and 15:00, so that pictures of another day differ little. */
async function showAfternoon(pool: Pool): Promise<void> {
  const ahead = 14 - new Date().getUTCHours();
  await pool.query(`UPDATE "user" SET time_zone = $1`, [`Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`]);
}

const others = [
  ["Mira", "Okafor", "admin"],
  ["Joost", "Terpstra", "member"],
  ["Tomás", "Rey", "viewer"],
] as const;

async function writeWeeks(pool: Pool, people: readonly string[]): Promise<void> {
  const weeks = [
    {
      server: names.server,
      tools: ["water_level", "lock_status", "water_level", "find_moorings", "water_level"],
      callsPerDay: 420,
    },
    {
      server: names.desk,
      tools: ["search_requests", "search_requests", "open_request", "close_request"],
      callsPerDay: 130,
    },
    { server: names.locks, tools: ["next_opening"], callsPerDay: 240 },
  ];
  for (const week of weeks) await writeWeek(pool, { ...week, people });
}

/** Returns the ids of all members. */
async function addPeople(pool: Pool, organizationId: string): Promise<readonly string[]> {
  for (const [at, [first, last, role]] of others.entries()) {
    const email = `${first
      .normalize("NFD")
      .replaceAll(/[^A-Za-z]/g, "")
      .toLowerCase()}@lowland.example`;
    await pool.query(
      `WITH person AS (
         INSERT INTO "user" (id, name, email, email_verified, first_name, last_name, created_at)
         VALUES (gen_random_uuid(), $1, $2, true, $3, $4, now() - $5 * interval '1 day') RETURNING id)
       INSERT INTO member (id, organization_id, user_id, role, created_at)
       SELECT gen_random_uuid(), $6, id, $7, now() - $5 * interval '1 day' FROM person`,
      [`${first} ${last}`, email, first, last, 40 - 9 * at, organizationId, role],
    );
  }
  await pool.query("UPDATE member SET created_at = now() - interval '41 days' WHERE role = 'owner'");
  await pool.query(
    `INSERT INTO apikey (id, reference_id, user_id, name, start, key, last_request, created_at)
     SELECT gen_random_uuid(), organization_id, user_id, 'Laptop', 'tp_9xKd', 'of-no-key', now() - interval '2 hours',
        now() - interval '12 days' FROM member WHERE role = 'owner'`,
  );
  const { rows } = await pool.query("SELECT user_id AS id FROM member WHERE organization_id = $1 ORDER BY created_at", [
    organizationId,
  ]);
  return rows.map(({ id }) => id);
}

async function run({ dataDirectory }: TowpathInstance, ...args: string[]): Promise<void> {
  const { status, stdout, stderr } = await towpath(...args, "--data-dir", dataDirectory);
  // The build of one branch fails.
  if ((status !== 0) !== args.includes(names.broken))
    throw new Error(`${args.join(" ")}: ${status}\n${stdout}${stderr}`);
}

const deploy = (instance: TowpathInstance, directory: string, name: string, ...more: string[]) =>
  run(instance, "deploy", directory, "--name", name, ...more);

const forecast = `

@mcp.tool(annotations={"readOnlyHint": True})
def forecast(gauge: str, hours: int = 12) -> list[int]:
    """Expected level of a gauge for each of the next hours."""
    return [level_at(gauge) + step // 4 for step in range(hours)]
`;

/** Three versions of the server, a preview that works, and one that doesn't. */
async function deployVersions(instance: TowpathInstance): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-pictures-source-"));
  try {
    await cp(sourceOf(names.server), directory, { recursive: true });
    const whole = await readFile(join(directory, "server.py"), "utf8");
    const without = (tool: string) => whole.replace(new RegExp(`\n@mcp\\.tool[^\n]*\ndef ${tool}[^@]*`), "\n");
    const withoutBooking = without("book_mooring");
    const versions = [
      [withoutBooking.replace(/\n@mcp\.tool[^\n]*\ndef find_moorings[^@]*/, "\n"), firstMessage],
      [withoutBooking, "Find free moorings"],
      [whole, "Book a mooring"],
      [whole + forecast, "Forecast the level by the hour", "--preview", names.preview],
      [`import httpx\n\n${whole}`, "Ask the tide service", "--preview", names.broken],
    ] as const;
    for (const [source, message, ...more] of versions) {
      await writeFile(join(directory, "server.py"), source);
      await deploy(instance, directory, names.server, "--message", message, ...more);
      if (message !== firstMessage) continue;
      await run(instance, "env", names.server, "set", "LEVEL_UNIT=cm");
      await run(instance, "env", names.server, "set", "REGISTER_TOKEN=8f2c41d7a0e6", "--sensitive");
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Builds and deployments of production get the age that the calls of the week need. */
async function moveDeploymentsBack(pool: Pool): Promise<void> {
  for (const [message, hours] of Object.entries(deployedHoursAgo)) {
    const back = `- $1 * interval '1 hour'`;
    await pool.query(
      `UPDATE build SET created_at = created_at ${back}, updated_at = updated_at ${back}, started_at = started_at ${back},
         ended_at = ended_at ${back} WHERE commit_message = $2`,
      [hours, message],
    );
    await pool.query(
      `UPDATE deployment SET created_at = deployment.created_at ${back} FROM build
        WHERE build.id = build_id AND commit_message = $2`,
      [hours, message],
    );
  }
  await pool.query(
    `UPDATE route SET updated_at = deployment.created_at FROM deployment WHERE deployment.id = route.deployment_id`,
  );
  await pool.query("UPDATE project SET created_at = created_at - interval '177 hours'");
}

/** Starts the gradual release of the preview and lets it run for some minutes, with calls of both versions. */
export async function releaseGradually({ instance, pool }: Filled): Promise<void> {
  await run(instance, "promote", names.server, names.preview, "--gradually");
  // Not before the pictures are taken.
  await pool.query(
    `UPDATE gradual_release SET started_at = now() - interval '6 minutes', step_started_at = now() - interval '6 minutes',
       next_check_at = now() + interval '1 hour' WHERE state = 'running'`,
  );
}
