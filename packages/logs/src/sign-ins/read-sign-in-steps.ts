import type { Reader } from "../query/reader.ts";
import type { SignInStepEntry } from "./sign-in.schema.ts";

/** Max steps of each kind, read separately, so that strangers' steps don't displace proven ones. */
const maxProven = 600;
const maxUnproven = 600;
const maxUnplaced = 200;

/** Between a step at the server and one at the authorization server, which does not know the server. */
const placedWithin = "2 minutes";

const columns = `id, time, kind, problem, fault, is_proven AS "isProven", client_id AS "clientId", client_name AS "clientName",
  agent, network, user_id AS "userId", key_id AS "keyId", authorization_id AS "authorizationId", flow, detail,
  left_out AS "leftOut"`;

/**
 * The latest steps of clients that tried to sign in to a server, oldest first. A step that names no server, such as a
 * registration, belongs to it if the client that it names was at this server, or if the same program in the same
 * network was there minutes before and the client was at no other.
 *
 * The caller has checked access to the project.
 */
export async function readSignInSteps(reader: Reader, projectId: string): Promise<SignInStepEntry[]> {
  const newest = (isProven: boolean, max: number) =>
    reader.query<SignInStepEntry>(
      `SELECT ${columns} FROM sign_in_step WHERE project_id = $1 AND is_proven = $2 ORDER BY id DESC LIMIT ${max}`,
      [projectId, isProven],
    );
  const [proven, unproven] = await Promise.all([newest(true, maxProven), newest(false, maxUnproven)]);
  const own = [...proven.rows, ...unproven.rows];
  const byProgram = await unplacedByProgram(reader, projectId, own);
  const byClient = await unplacedByClient(reader, [...own, ...byProgram]);
  const all = new Map([...own, ...byProgram, ...byClient].map((step) => [step.id, step]));
  return [...all.values()].sort((a, b) => a.time.getTime() - b.time.getTime() || a.id - b.id);
}

/** Steps of programs elsewhere within minutes after they were at the server. */
async function unplacedByProgram(
  reader: Reader,
  projectId: string,
  own: readonly SignInStepEntry[],
): Promise<SignInStepEntry[]> {
  const seen = own.filter(({ agent, network }) => agent !== null && network !== null);
  if (seen.length === 0) return [];
  const { rows } = await reader.query<SignInStepEntry>(
    `SELECT ${columns} FROM sign_in_step step WHERE project_id IS NULL AND time > now() - interval '2 days'
       AND EXISTS (SELECT FROM unnest($1::timestamptz[], $2::text[], $3::text[]) AS seen (time, agent, network)
         WHERE seen.agent = step.agent AND seen.network = step.network
           AND step.time BETWEEN seen.time - interval '5 seconds' AND seen.time + interval '${placedWithin}')
       AND (step.client_id IS NULL OR step.client_id NOT IN (SELECT other.client_id FROM sign_in_step other
         WHERE other.project_id <> $4 AND other.client_id IS NOT NULL AND other.time > now() - interval '2 days'
           AND other.client_id <> ALL ($5::text[])))
     ORDER BY time DESC LIMIT ${maxUnplaced}`,
    [
      seen.map(({ time }) => time),
      seen.map(({ agent }) => agent),
      seen.map(({ network }) => network),
      projectId,
      own.flatMap(({ clientId }) => clientId ?? []),
    ],
  );
  return rows;
}

/** Steps elsewhere of clients that were at the server, within minutes of that. */
async function unplacedByClient(reader: Reader, known: readonly SignInStepEntry[]): Promise<SignInStepEntry[]> {
  const seen = known.filter(({ clientId }) => clientId !== null);
  if (seen.length === 0) return [];
  const { rows } = await reader.query<SignInStepEntry>(
    `SELECT ${columns} FROM sign_in_step step WHERE project_id IS NULL AND time > now() - interval '2 days'
       AND EXISTS (SELECT FROM unnest($1::timestamptz[], $2::text[]) AS seen (time, client)
         WHERE seen.client = step.client_id
           AND step.time BETWEEN seen.time - interval '${placedWithin}' AND seen.time + interval '15 minutes')
     ORDER BY time DESC LIMIT ${maxUnplaced}`,
    [seen.map(({ time }) => time), seen.map(({ clientId }) => clientId)],
  );
  return rows;
}
