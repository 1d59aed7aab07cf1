import { randomUUID } from "node:crypto";
import { openTestDatabase } from "@towpath/db/testing";
import { beforeEach, expect, test } from "vitest";
import { attemptsOf, readSignInSteps, SignInRecorder } from "../index.ts";
import { networkOf } from "./network.ts";
import type { SignInAttempt } from "./sign-in.schema.ts";
import type { RecordedStep } from "./sign-in-recorder.ts";
import { signInFaultTexts } from "./sign-in-texts.ts";

const database = openTestDatabase();
let projectId: string;
let clock: number;
let recorder: SignInRecorder;
const problems: unknown[] = [];
beforeEach(async () => {
  clock = 0;
  problems.length = 0;
  projectId = await newProject();
  program = { address: "203.0.113.7", agent: `node-${projectId}/24.1 (linux)` };
  recorder = newRecorder();
});

const newRecorder = () =>
  new SignInRecorder({ pool: database.pool, now: () => clock, onProblem: (error) => problems.push(error) });

async function newProject(): Promise<string> {
  const [organization, project] = [randomUUID(), randomUUID()];
  await database.pool.query("INSERT INTO organization (id, name, slug) VALUES ($1, 'Acme', $1::uuid::text)", [
    organization,
  ]);
  await database.pool.query(
    `INSERT INTO project (id, organization_id, name, entrypoint, auth_mode)
     VALUES ($1, $2, $1::uuid::text, 'server.py', 'towpath-cloud')`,
    [project, organization],
  );
  return project;
}

/** One for each test: it distinguishes steps that name no server. */
let program: { address: string; agent: string };
const browser = { address: "198.51.100.9", agent: null };

/** Records a step, by default in the client's program, ten seconds after the one before. */
function record(step: Pick<RecordedStep, "kind"> & Partial<RecordedStep>, by: RecordedStep | object = program): void {
  clock += 10_000;
  // Steps are ordered by the millisecond.
  for (const before = Date.now(); Date.now() === before; );
  recorder.record({ problem: null, isProven: false, projectId, ...program, ...by, ...step });
}

async function attempts(of = projectId, later = 0) {
  await recorder.stop(2000);
  recorder = newRecorder();
  return attemptsOf(await readSignInSteps(database.pool, of), Date.now() + later);
}

const chain = ({ steps }: SignInAttempt) => steps.map(({ kind, state }) => `${kind} ${state}`);

/** All steps of a client that gets in, until before the named one. */
function signIn(until?: RecordedStep["kind"]): string {
  const client = { clientId: `client-${projectId}`, clientName: "Friendly app" };
  const authorizationId = randomUUID();
  const steps: (() => void)[] = [
    () => record({ kind: "challenge" }),
    () => record({ kind: "resource_metadata" }),
    () => record({ kind: "server_metadata", projectId: null }),
    () => record({ kind: "registration", projectId: null, ...client }),
    () => record({ kind: "authorization", authorizationId, ...client }, browser),
    () => record({ kind: "sign_in", authorizationId, ...client, isProven: true, userId: randomUUID() }, browser),
    () => record({ kind: "consent", authorizationId, ...client, isProven: true }, browser),
    () => record({ kind: "token", authorizationId, ...client, isProven: true }),
    () => record({ kind: "call", authorizationId, clientId: client.clientId, isProven: true }),
  ];
  const kinds = "challenge resource_metadata server_metadata registration authorization sign_in consent token call";
  const end = until === undefined ? steps.length : kinds.split(" ").indexOf(until);
  for (const step of steps.slice(0, end)) step();
  return authorizationId;
}

test("GW-5 the steps of a client that gets in are one attempt, from the first 401 to the first call", async () => {
  const authorizationId = signIn();
  const found = await attempts();
  expect(found).toMatchObject({
    leftOut: 0,
    attempts: [
      {
        id: authorizationId,
        state: "connected",
        problem: null,
        clientName: "Friendly app",
        agent: `node-${projectId}/24.1`,
        network: "203.0.113.0/24",
        isProven: true,
      },
    ],
  });
  const [attempt] = found.attempts as [SignInAttempt];
  expect(attempt.steps).toHaveLength(9);
  expect(attempt.steps.every(({ state, time }) => state === "done" && time !== null)).toBe(true);
  expect(problems).toEqual([]);
});

test("GW-5 a waiting attempt names its next step, and an abandoned one its last", async () => {
  signIn("consent");
  const [waiting] = (await attempts()).attempts as [SignInAttempt];
  expect([waiting.state, ...chain(waiting).slice(5)]).toEqual([
    "waiting",
    "sign_in done",
    "consent waiting",
    "token unreached",
    "call unreached",
  ]);
  const [later] = (await attempts(projectId, 20 * 60_000)).attempts as [SignInAttempt];
  expect([later.state, later.endedAt, later.problem]).toEqual(["unfinished", "sign_in", null]);
});

type Person = Record<"clientId" | "clientName" | "authorizationId" | "flow" | "userId", string>;

/** Two people behind one address, with the same program, each with a separate client. */
function twoClients({ shareClient = false } = {}) {
  const person = (name: string): Person => ({
    clientId: shareClient ? "https://app.example/client.json" : `${name}-${projectId}`,
    clientName: `App of ${name}`,
    authorizationId: randomUUID(),
    flow: `flow-${name}`,
    userId: randomUUID(),
  });
  const sharedBrowser = { address: program.address, agent: null };
  const steps: Record<string, (by: Person) => void> = {
    challenge: () => record({ kind: "challenge" }),
    metadata: () => record({ kind: "resource_metadata" }),
    registration({ clientId, clientName }) {
      if (!shareClient) record({ kind: "registration", projectId: null, clientId, clientName });
    },
    authorization: ({ userId: _, ...rest }) => record({ kind: "authorization", ...rest }, sharedBrowser),
    sign_in: ({ flow: _, ...rest }) => record({ kind: "sign_in", isProven: true, ...rest }, sharedBrowser),
    consent: ({ flow: _, ...rest }) => record({ kind: "consent", isProven: true, ...rest }, sharedBrowser),
    token: (rest) => record({ kind: "token", isProven: true, ...rest }),
    call: ({ flow: _, clientName: __, ...rest }) => record({ kind: "call", isProven: true, ...rest }),
  };
  return { ada: person("ada"), bob: person("bob"), do: (name: string, by: Person) => steps[name]?.(by) };
}
const kindsOfSignIn = "challenge metadata registration authorization sign_in consent token call".split(" ");

test.each([
  ["each with a registration of its own", {}],
  ["with one metadata document", { shareClient: true }],
])("GW-5 two clients behind one address, %s, are two attempts, and both end", async (_, options) => {
  const both = twoClients(options);
  for (const kind of kindsOfSignIn) for (const person of [both.ada, both.bob]) both.do(kind, person);
  const found = (await attempts()).attempts.map(({ id, state, userId }) => ({ id, state, userId }));
  expect(found).toHaveLength(2);
  for (const { authorizationId: id, userId } of [both.ada, both.bob])
    expect(found).toContainEqual({ id, state: "connected", userId });
});

test("GW-5 one client behind an address connects while another's person hesitates, fails or declines", async () => {
  const both = twoClients();
  for (const kind of kindsOfSignIn.slice(0, 5)) both.do(kind, both.bob);
  for (const kind of kindsOfSignIn) both.do(kind, both.ada);
  // With an old token of a third program, which names nobody.
  record({ kind: "call", problem: "token_expired" });
  const byId = async () =>
    new Map((await attempts()).attempts.map(({ id, state, problem }) => [id, [state, problem] as const]));
  const first = await byId();
  expect(first.get(both.ada.authorizationId)).toEqual(["connected", null]);
  expect(first.get(both.bob.authorizationId)).toEqual(["waiting", null]);
  // The client sends a code that isn't its own: only the verifier identifies the attempt.
  record({ kind: "token", problem: "code_unknown", clientId: both.bob.clientId, flow: both.bob.flow });
  const then = await byId();
  expect(then.get(both.bob.authorizationId)).toEqual(["failed", "code_unknown"]);
  expect(then.get(both.ada.authorizationId)).toEqual(["connected", null]);
});

test("GW-5 a browser behind an address joins no attempt of another client there", async () => {
  record({ kind: "challenge" });
  const stranger = { clientId: "somebody-else", clientName: "Other app", authorizationId: randomUUID() };
  record({ kind: "authorization", ...stranger }, { address: program.address, agent: null });
  const found = (await attempts()).attempts;
  expect(found.map(({ clientId, endedAt }) => `${endedAt} of ${clientId}`).sort()).toEqual([
    "authorization of somebody-else",
    "challenge of null",
  ]);
});

test("GW-5 a reloaded page continues the same attempt", async () => {
  const client = { clientId: `client-${projectId}`, clientName: "Friendly app", flow: "flow" };
  const [first, second] = [randomUUID(), randomUUID()];
  record({ kind: "authorization", authorizationId: first, ...client }, browser);
  record({ kind: "authorization", authorizationId: second, ...client }, browser);
  const { flow: _, ...rest } = client;
  record({ kind: "token", authorizationId: second, ...rest, isProven: true });
  record({ kind: "call", authorizationId: second, ...rest, isProven: true });
  expect((await attempts()).attempts.map(({ state }) => state)).toEqual(["connected"]);
});

test("GW-5 a client that registers for another server at the same time isn't counted as this one's", async () => {
  const other = await newProject();
  record({ kind: "challenge" });
  record({ kind: "challenge", projectId: other });
  const [mine, theirs] = [{ clientId: `mine-${projectId}` }, { clientId: `theirs-${projectId}` }];
  record({ kind: "registration", projectId: null, ...mine });
  record({ kind: "registration", projectId: null, ...theirs });
  record({ kind: "authorization", authorizationId: randomUUID(), ...mine }, browser);
  record({ kind: "authorization", projectId: other, authorizationId: randomUUID(), ...theirs }, browser);
  for (const [id, { clientId }] of [[projectId, mine] as const, [other, theirs] as const])
    expect((await attempts(id)).attempts.map((each) => each.clientId)).toEqual([clientId]);
});

test("GW-5 a failure ends an attempt, and the next try is another one of the same client", async () => {
  signIn("token");
  record({ kind: "token", problem: "code_unknown", clientId: `client-${projectId}`, clientName: "Friendly app" });
  signIn();
  const found = (await attempts()).attempts;
  expect(found.map(({ state, problem, clientName }) => [state, problem, clientName])).toEqual([
    ["connected", null, "Friendly app"],
    ["failed", "code_unknown", "Friendly app"],
  ]);
});

test("GW-5 a step without a server belongs to the project where its program was before, and to no other", async () => {
  const other = await newProject();
  record({ kind: "challenge", projectId: other }, { ...program, agent: "other/1" });
  record({ kind: "challenge" });
  record({ kind: "registration", projectId: null, problem: "redirect_not_allowed" });
  const [own] = (await attempts()).attempts as [SignInAttempt];
  expect([own.state, own.problem, own.endedAt]).toEqual(["failed", "redirect_not_allowed", "registration"]);
  expect((await attempts(other)).attempts.map(({ problem }) => problem)).toEqual([null]);
});

test("GW-5 after a client is connected, a replayed refresh token ends its attempt, a renewed one does not", async () => {
  const authorizationId = signIn();
  const renewal = { authorizationId, clientId: `client-${projectId}`, clientName: "Friendly app", isProven: true };
  record({ kind: "call", problem: "token_expired" });
  record({ kind: "refresh", ...renewal });
  expect((await attempts()).attempts.map(({ state }) => state)).toEqual(["connected"]);
  record({ kind: "refresh", problem: "refresh_reused", ...renewal });
  expect((await attempts()).attempts.map(({ state, problem }) => [state, problem])).toEqual([
    ["failed", "refresh_reused"],
  ]);
});

test("GW-5 an expired token that is not renewed is a failure, of the client whose program sends it", async () => {
  signIn();
  clock += 3_600_000;
  record({ kind: "call", problem: "token_expired" });
  expect((await attempts()).attempts[0]).toMatchObject({ state: "failed", clientName: "Friendly app" });
});

test("GW-5 an expired token is a failure although another client of the same program and address renews its own", async () => {
  const { ada, bob, do: does } = twoClients();
  for (const kind of kindsOfSignIn) does(kind, bob);
  for (const kind of kindsOfSignIn.slice(0, -1)) does(kind, ada);
  record({ kind: "call", problem: "token_expired" });
  const { authorizationId, clientId } = bob;
  record({ kind: "refresh", isProven: true, authorizationId, clientId });
  const found = new Map((await attempts()).attempts.map(({ id, problem }) => [id, problem]));
  expect(found.get(ada.authorizationId)).toBe("token_expired");
  expect(found.get(bob.authorizationId)).toBeNull();
});

test("GW-5 a refused API key is an attempt of one step", async () => {
  const keyId = randomUUID();
  record({ kind: "call", problem: "key_revoked", keyId, isProven: true });
  expect((await attempts()).attempts).toMatchObject([
    { problem: "key_revoked", keyId, steps: [{ kind: "call", state: "failed" }] },
  ]);
});

test("GW-5 a flood from one network, or from many, displaces neither members' steps nor earlier ones", async () => {
  signIn();
  for (let at = 0; at < 500; at++) {
    recorder.record({
      kind: "challenge",
      problem: null,
      isProven: false,
      projectId,
      address: "10.1.2.3",
      agent: `a${at}`,
    });
  }
  recorder.record({
    kind: "challenge",
    problem: null,
    isProven: false,
    projectId,
    address: "10.9.9.9",
    agent: "honest",
  });
  for (let at = 0; at < 2000; at++) {
    const address = `10.${at % 250}.${Math.floor(at / 250)}.1`;
    recorder.record({ kind: "challenge", problem: null, isProven: false, projectId, address, agent: "flood" });
  }
  record({ kind: "call", problem: "key_expired", isProven: true });
  const found = await attempts();
  expect(found.leftOut).toBeGreaterThan(1000);
  const { rows } = await database.pool.query("SELECT count(*)::int AS rows FROM sign_in_step WHERE project_id = $1", [
    projectId,
  ]);
  expect(rows[0].rows).toBeLessThan(270);
  const agents = (await readSignInSteps(database.pool, projectId)).map(({ agent }) => agent);
  expect(agents).toContain("honest");
  const states = found.attempts.map(({ state, problem }) => problem ?? state);
  expect(states).toContain("key_expired");
  expect(states).toContain("connected");
});

test("GW-5 neither a whole address nor a long or broken text is stored, nor a step of a deleted project", async () => {
  record({ kind: "challenge", projectId: randomUUID() });
  const long = `${"x".repeat(1000)}\0\ud800`;
  record({ kind: "authorization", problem: "redirect_not_registered", clientId: long, clientName: long, detail: long });
  await attempts();
  const { rows } = await database.pool.query("SELECT * FROM sign_in_step WHERE project_id = $1", [projectId]);
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(program.address);
  expect(rows[0].client_id).toHaveLength(300);
  expect(problems).toEqual([]);
  const networks = [
    "203.0.113.7",
    "::ffff:203.0.113.7",
    "2001:db8:1:2::5",
    "2001:db8::1",
    "::1",
    "127.0.0.5",
    "x",
    null,
  ];
  expect(networks.map(networkOf)).toEqual([
    "203.0.113.0/24",
    "203.0.113.0/24",
    "2001:db8:1::/48",
    "2001:db8:0::/48",
    "loopback",
    "loopback",
    null,
    null,
  ]);
});

test("GW-5 without the database nothing waits or fails", async () => {
  const recorder = new SignInRecorder({
    pool: { query: () => Promise.reject(new Error("unavailable")) } as never,
    now: () => clock,
    onProblem: (error) => problems.push(error),
  });
  recorder.record({ kind: "challenge", problem: null, isProven: false, projectId, ...program });
  await recorder.stop(300);
  expect(problems).toHaveLength(1);
});

test("CAP-3 what a client did wrong although it got on is shown once with its attempt, the latest last", async () => {
  const authorizationId = signIn();
  const renewal = { kind: "refresh", authorizationId, isProven: true } as const;
  record({ ...renewal, fault: "refresh_early" });
  record({ ...renewal, fault: "redirect_alias", detail: "It registered a and asked for b." });
  clock += 60 * 60_000;
  record({ ...renewal, fault: "refresh_early" });
  record(renewal);
  const [attempt, ...others] = (await attempts()).attempts;
  expect([attempt?.state, others]).toEqual(["connected", []]);
  expect(attempt?.faults).toMatchObject([
    { fault: "redirect_alias", detail: "It registered a and asked for b." },
    { fault: "refresh_early", detail: null },
  ]);
  for (const { title, text } of Object.values(signInFaultTexts))
    expect([title.length > 20, text.length > 60]).toEqual([true, true]);
});
