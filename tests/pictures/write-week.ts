import type { openDatabase } from "@towpath/db";
import { foldRequestLogs, writeRequestLogs, writeServerLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";

import { v7 } from "uuid";

export type Pool = ReturnType<typeof openDatabase>["pool"];

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const days = 7;

type Version = { readonly deploymentId: string; readonly from: number };
type Ids = { readonly projectId: string; readonly organizationId: string };

export const clients = [
  ["claude-code", "2.4.1"],
  ["cursor", "1.9.0"],
  ["Visual Studio Code", "1.108"],
  ["python-fastmcp", "4.1.2"],
] as const;
const gauges = ["Leiden", "Gouda", "Haarlem", "Delft"];
const callsPerSession = 8;

/** Looks random, and is the same in each run. */
function mix(n: number): number {
  const half = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  const mixed = Math.imul(half ^ (half >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
const pick = <T>(from: readonly T[], n: number): T => from[mix(n) % from.length] as T;

export type Week = {
  readonly server: string;
  /** Who calls: ids of members. */
  readonly people: readonly string[];
  /** Those that are called, the more often the more often they are here. */
  readonly tools: readonly string[];
  readonly callsPerDay: number;
};

/**
 * Writes a week of calls of a server before now: more by day than by night, by people and programs in sessions, answered by
 * the version that was live, with some failures. The worker groups those to errors.
 */
export async function writeWeek(pool: Pool, { server, people, tools, callsPerDay }: Week): Promise<void> {
  const { rows: versions } = await pool.query<Ids & Version>(
    `SELECT project.id AS "projectId", project.organization_id AS "organizationId", deployment.id AS "deploymentId",
        extract(epoch FROM deployment.created_at)::float8 * 1000 AS "from"
       FROM deployment JOIN project ON project.id = deployment.project_id
      WHERE project.name = $1 AND environment = 'production' ORDER BY deployment.created_at DESC`,
    [server],
  );
  const [live] = versions;
  if (live === undefined) throw new Error(`${server} isn't live.`);
  const now = Date.now();
  for (let day = 0; day <= days; day++)
    await pool.query("SELECT towpath_ensure_log_partitions($1::date)", [new Date(now - day * dayMs)]);
  const count = days * callsPerDay;
  const rows = Array.from({ length: count }, (_, n) => {
    const session = Math.floor(n / callsPerSession);
    const [clientName, clientVersion] = pick(clients, session + 7);
    const time = Math.floor(timeOf(now, (session * callsPerSession) / count, session) - (n % callsPerSession) * 25_000);
    const { projectId, organizationId, deploymentId } = versions.find(({ from }) => from <= time) ?? live;
    const target = pick(tools, n + 1);
    return requestLogRow({
      projectId,
      organizationId,
      deploymentId,
      clientName,
      clientVersion,
      time,
      target,
      id: v7({ msecs: time }),
      principal: `user:${pick(people, session + 3)}`,
      session: `${server}-${session}`,
      durationMs: 5 + (mix(n) % 34) + (mix(n) % 29 === 0 ? 160 : 0),
      serverMs: 4 + (mix(n) % 30),
      ...callOf(target, mix(n)),
    });
  });
  for (let from = 0; from < rows.length; from += 500) await writeRequestLogs(pool, rows.slice(from, from + 500));
  await printTracebacks(pool, rows);
  while ((await foldRequestLogs(pool)) > 0);
}

/** `ago`: from 0, a quarter of an hour before now, to 1, a week before. Most of what would be at night is in the afternoon. */
function timeOf(now: number, ago: number, session: number): number {
  const time = now - 15 * minuteMs - ago * days * dayMs;
  const hoursBeforeThis = ((now - time) % dayMs) / hourMs;
  // It is the afternoon: see `showAfternoon`.
  const isNight = hoursBeforeThis > 7 && hoursBeforeThis < 16;
  return isNight && mix(session) % 4 > 0 ? time + 6 * hourMs - (mix(session) % 60) * minuteMs : time;
}

const failed = { isError: true, outcome: "tool_error" as const };

/** What is special about a call: its arguments, and how it failed. */
function callOf(tool: string, mixed: number) {
  const withArguments = (args: object) => ({
    requestPayload: { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: tool, arguments: args } },
  });
  if (tool === "water_level" && mixed % 97 === 3) {
    const errorMessage = "Error calling tool 'water_level': 'Katwijk'";
    return { ...failed, ...withArguments({ gauge: "Katwijk", hours: 12 }), errorMessage };
  }
  if (tool === "lock_status" && mixed % 61 === 2) {
    const lock = mixed % 2 ? "Oude Rijn" : "Parksluizen";
    return {
      ...failed,
      ...withArguments({ lock }),
      errorMessage: "There is no such lock. Try Leidschendam or Spaarne.",
    };
  }
  if (tool === "find_moorings" && mixed % 83 === 7) {
    const errorMessage = "The register of moorings did not answer within 5 s";
    return { ...failed, ...withArguments({ near: "Gouda", length: 12 }), errorMessage, durationMs: 5004 };
  }
  return tool === "water_level" ? withArguments({ gauge: pick(gauges, mixed), hours: 6 }) : {};
}

/** What the server printed when it failed: the frame of its own code names the cause. */
async function printTracebacks(pool: Pool, rows: readonly ReturnType<typeof requestLogRow>[]): Promise<void> {
  const lines = rows
    .filter(({ isError, target }) => isError && target === "water_level")
    .flatMap(({ id, time, projectId, deploymentId }) =>
      [
        "Traceback (most recent call last):",
        '  File "/app/src/server.py", line 23, in water_level',
        "    level = level_at(gauge)",
        '  File "/app/src/server.py", line 17, in level_at',
        "    return LEVELS[gauge]",
        "KeyError: 'Katwijk'",
      ].map((line) => ({
        projectId,
        deploymentId: deploymentId ?? "",
        line,
        requestId: id,
        instanceId: null,
        time: new Date(time),
        stream: "stderr" as const,
        level: "error" as const,
      })),
    );
  await writeServerLogs(pool, lines);
}

/** Ninety days of the organization's public servers, with one bad day. */
export async function writeStatusDays(pool: Pool, organizationId: string): Promise<void> {
  await pool.query("UPDATE organization SET has_status_page = true WHERE id = $1", [organizationId]);
  await pool.query(
    `INSERT INTO server_day (project_id, day, calls, unanswered, p95_ms, counted_to, is_final)
     SELECT id, day, 300 + (ago * 37 + length(name) * 11) % 180, CASE WHEN ago = 23 + length(name) THEN 17 ELSE 0 END,
        22 + (ago * 13 + length(name)) % 19, day + interval '1 day', true
       FROM project, generate_series(1, 89) AS ago, LATERAL (SELECT (current_date - ago)::date AS day) AS days
      WHERE organization_id = $1 AND kind <> 'portal' AND ago < 90 - length(name)
     ON CONFLICT DO NOTHING`,
    [organizationId],
  );
}

/** Calls of both versions of a release since its step began. */
export async function writeReleaseCalls(pool: Pool): Promise<void> {
  const { rows } = await pool.query(
    `SELECT project.id AS "projectId", organization_id AS "organizationId", stable_deployment_id AS stable,
        candidate_deployment_id AS candidate
       FROM gradual_release JOIN project ON project.id = project_id WHERE state = 'running'`,
  );
  const { projectId, organizationId, stable, candidate } = rows[0];
  const calls = Array.from({ length: 260 }, (_, n) => {
    const [time, isNew] = [Date.now() - (n % 330) * 1000, n % 19 === 5];
    return requestLogRow({
      projectId,
      organizationId,
      time,
      id: v7({ msecs: time }),
      deploymentId: isNew ? candidate : stable,
      target: pick(["water_level", "lock_status", "find_moorings"], n),
      session: `release-${n % 19}`,
      clientName: pick(clients, n)[0],
      clientVersion: pick(clients, n)[1],
      durationMs: (isNew ? 9 : 8) + (mix(n) % 31),
      ...(n % 120 === 1 && { ...failed, errorMessage: "There is no such lock. Try Leidschendam or Spaarne." }),
    });
  });
  await writeRequestLogs(pool, calls);
  while ((await foldRequestLogs(pool)) > 0);
}
