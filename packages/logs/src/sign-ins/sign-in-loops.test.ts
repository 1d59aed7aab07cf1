import { openTestDatabase } from "@towpath/db/testing";
import { expect, test } from "vitest";
import { findSignInLoops } from "../index.ts";
import type { SignInStepEntry } from "./sign-in.schema.ts";
import { signInLoops } from "./sign-in-loops.ts";

const now = Date.parse("2026-11-27T12:00:00Z");
const minuteMs = 60_000;

type Change = Partial<SignInStepEntry> & Pick<SignInStepEntry, "kind">;
const nothing = { clientId: null, clientName: null, agent: null, network: null, userId: null, keyId: null };
/** A step each minute, the last one now. */
const steps = (changes: readonly Change[]): SignInStepEntry[] =>
  changes.map((change, index) => ({
    ...nothing,
    id: index,
    time: new Date(now - (changes.length - 1 - index) * minuteMs),
    problem: null,
    fault: null,
    isProven: false,
    authorizationId: null,
    flow: null,
    detail: null,
    leftOut: 0,
    ...change,
  }));

const client = { clientId: "c1", clientName: "Friendly app", agent: "friendly/2.1", network: "203.0.113.0/24" };
/** One attempt: a person signs in, and the first call is refused all the same. */
const attempt: readonly Change[] = [
  { kind: "authorization", ...client, agent: null, network: null },
  { kind: "token", ...client, clientName: null },
  { kind: "call", ...client, clientName: null, problem: "token_for_other_server" },
];
const repeat = (count: number, of: readonly Change[]) => Array.from({ length: count }, () => of).flat();

test("CAP-6 a client that starts five times in half an hour without an accepted call is a loop, with its last problem", () => {
  expect(signInLoops(steps(repeat(4, attempt)), now)).toEqual([]);
  expect(signInLoops(steps(repeat(5, attempt)), now)).toEqual([
    {
      client: "Friendly app",
      key: "friendly app",
      starts: 5,
      minutes: 30,
      problem: expect.stringMatching(/\. /),
    },
  ]);
});

const registered = (index: number): Change => ({ kind: "registration", ...client, clientId: `c${index}` });
test.each<[string, readonly Change[], boolean]>([
  ["an accepted call in between", [...repeat(4, attempt), { kind: "call", ...client }, ...repeat(4, attempt)], false],
  ["a renewal at the end", [...repeat(6, attempt), { kind: "refresh", ...client }], false],
  ["a new registration each time", Array.from({ length: 5 }, (_, index) => registered(index)), true],
  ["a monitor that only gets 401", repeat(30, [{ kind: "challenge", agent: "monitor/1", network: "n" }]), false],
  ["metadata over and over", repeat(5, [{ kind: "resource_metadata", agent: "odd/1.0", network: "n" }]), true],
  [
    "starts of several clients",
    Array.from({ length: 8 }, (_, index) => ({ ...registered(index), clientName: `App ${index}` })),
    false,
  ],
  ["steps without a client", repeat(9, [{ kind: "resource_metadata" }]), false],
])("CAP-6 a sign-in loop, or not: %s", (_, changes, isLoop) => {
  expect(signInLoops(steps(changes), now).length > 0).toBe(isLoop);
});

test("CAP-6 what is older than half an hour doesn't count", () => {
  expect(signInLoops(steps(repeat(5, attempt)), now + 30 * minuteMs)).toEqual([]);
});

const database = openTestDatabase();

test("CAP-6 loops are found among the steps of the servers that are asked about", async () => {
  const [organization, one, other] = Array.from({ length: 3 }, () => crypto.randomUUID());
  const { pool } = database;
  await pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'Acme', $1::uuid::text)", [organization]);
  for (const id of [one, other])
    await pool.query(
      "INSERT INTO project (id, organization_id, name, entrypoint) VALUES ($1, $2, $1::uuid::text, 'server.py')",
      [id, organization],
    );
  for (const id of [one, other])
    for (let count = 0; count < 5; count++)
      await pool.query(
        `INSERT INTO sign_in_step (time, project_id, kind, is_proven, client_id, client_name)
         VALUES (now() - $2 * interval '1 minute', $1, 'authorization', false, 'c', 'Friendly app')`,
        [id, count],
      );
  expect(await findSignInLoops(pool, [one ?? ""])).toMatchObject([
    { projectId: one, client: "Friendly app", starts: 5 },
  ]);
  expect(await findSignInLoops(pool, [])).toEqual([]);
});
