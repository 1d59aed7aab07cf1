import { randomUUID } from "node:crypto";
import { sha256 } from "@towpath/crypto";
import { expect, test } from "vitest";
import { Unattended } from "./kept/unattended.ts";
import { KeptCallStore } from "./read-model/kept-calls.ts";
import { callOf, deployCounting, RawClient } from "./testing/counting-server.ts";
import { insertDeployment, openRig, secret, until } from "./testing/rig.ts";
import { connectAnswering, createTask } from "./testing/task-client.ts";
import { askModern, deployTaskless } from "./testing/taskless-server.ts";

const rig = openRig();

const stateOf = async (projectId: string) => {
  const { rows } = await rig.database.pool.query("SELECT state FROM kept_call WHERE project_id = $1", [projectId]);
  return rows.map(({ state }) => state);
};
const key = (text: string) => ({ "idempotency-key": text });

test.each(["pay", "stream"])(
  "CAP-2 a call with a key goes on without its client, who gets its result by asking again: %s",
  async (tool) => {
    const { server, counting, caller } = await deployCounting(rig);
    const client = new RawClient(server.url, { ...(await caller()), ...key("order 1".replace(" ", "-")) });
    await client.breakOff(1, callOf(1, tool), () => until(() => counting.runs.length === 1));
    await until(async () => (await stateOf(server.projectId)).includes("running"));
    // Asked again while it runs, with another id and the members in another order.
    const joined = client.result(2, { arguments: { amount: 1 }, name: tool });
    await new Promise((resolve) => setTimeout(resolve, 300));
    counting.release();
    expect(await joined).toMatchObject({ id: 2, result: { content: [{ text: "run 1" }] } });
    await expect.poll(() => stateOf(server.projectId)).toEqual(["fetched"]);
    expect(await client.result(3, callOf(1, tool))).toMatchObject({ id: 3, result: { content: [{ text: "run 1" }] } });
    expect([counting.runs, counting.closed]).toEqual([[{ amount: 1 }], []]);
    const rows = await rig.rows(server.projectId, 3);
    expect(rows.map(({ outcome, kept }) => [outcome, kept])).toEqual([
      ["ok", null],
      ["ok", null],
      ["ok", "fetched"],
    ]);
  },
);

test("CAP-2 without a key, the id of an unanswered request of the session is the same call; a delivered one is not", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  const client = await RawClient.inSession(server.url, await caller());
  await client.breakOff(7, callOf(), () => until(() => counting.runs.length === 1));
  counting.release();
  await expect.poll(() => stateOf(server.projectId)).toEqual(["waiting"]);
  expect(await client.result(7)).toMatchObject({ result: { content: [{ text: "run 1" }] } });
  await expect.poll(() => stateOf(server.projectId)).toEqual(["fetched"]);

  // Another id, other arguments under the same id, another session, and an id that was answered: each is a call.
  expect((await client.result(8)).result?.content[0]?.text).toBe("run 2");
  expect((await client.result(7, callOf(2))).result?.content[0]?.text).toBe("run 3");
  expect((await client.result(8)).result?.content[0]?.text).toBe("run 4");
  const other = await RawClient.inSession(server.url, await caller());
  expect((await other.result(7)).result?.content[0]?.text).toBe("run 5");
});

test.each(["silent", "break"])(
  "CAP-2 without a key, a call that got no answer of its server doesn't run again under its id: %s",
  async (tool) => {
    const { server, counting, caller } = await deployCounting(rig);
    counting.release();
    const client = await RawClient.inSession(server.url, await caller());
    expect(await (await client.call(7, callOf(1, tool))).text()).not.toContain("result");
    await expect.poll(() => stateOf(server.projectId)).toEqual(["unknown"]);
    expect((await client.result(7, callOf(1, tool))).error?.data.towpath).toBe("outcome_unknown");
    expect(counting.runs).toHaveLength(1);
  },
);

test("CAP-2 a call that is answered at once, with its client there, writes nothing that could be asked for", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  counting.release();
  const { pool } = rig.database;
  // The statistics of PostgreSQL come seconds late.
  await pool.query(
    `CREATE TABLE kept_insert (project_id uuid);
     CREATE FUNCTION count_kept() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS
       $$ BEGIN INSERT INTO kept_insert VALUES (NEW.project_id); RETURN NULL; END $$;
     CREATE TRIGGER count_kept AFTER INSERT ON kept_call FOR EACH ROW EXECUTE FUNCTION count_kept()`,
  );
  const written = async () => {
    const text = "SELECT count(*)::int AS n FROM kept_insert WHERE project_id = $1";
    return (await pool.query(text, [server.projectId])).rows[0].n;
  };
  const client = await RawClient.inSession(server.url, await caller());
  // On a busy machine some may take the 250 ms after which they are written.
  let slow = 0;
  for (let id = 1; id <= 50; id++) {
    const begun = performance.now();
    expect((await client.result(id)).result?.content[0]?.text).toBe(`run ${id}`);
    if (performance.now() - begun > 200) slow++;
  }
  const before = await written();
  expect(before).toBeLessThanOrEqual(slow);
  await new RawClient(server.url, { ...(await caller()), ...key("counts") }).result(1);
  await expect.poll(written, { timeout: 10_000 }).toBe(before + 1);
  await pool.query("DROP FUNCTION count_kept CASCADE");
});

test("CAP-2 nobody gets the result of another caller, and a key is for one call only", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  const [ada, bob] = [await caller(), await caller()].map((who) => new RawClient(server.url, { ...who, ...key("k1") }));
  counting.release();
  expect((await ada?.result(1))?.result?.content[0]?.text).toBe("run 1");
  expect((await bob?.result(1))?.result?.content[0]?.text).toBe("run 2");
  const reused = await ada?.result(1, callOf(2));
  expect(reused?.error?.data.towpath).toBe("idempotency_key_refused");
  expect(reused?.error?.message).toMatch(/Use a new key for each call/);
  const odd = await ada?.with(key("a b")).result(1);
  expect(odd?.error?.message).toMatch(/1 to 255 printable ASCII characters/);
  // Numbers that JavaScript can't tell apart are different arguments.
  const exact = (amount: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"amount":${amount}}}}`;
  const raw = async (body: string) => {
    const headers = { ...(await caller()), ...key("big"), "content-type": "application/json" };
    const post = async (text: string) => (await fetch(server.url, { method: "POST", headers, body: text })).text();
    return [await post(body), await post(exact("12345678901234567891"))];
  };
  expect((await raw(exact("12345678901234567890")))[1]).toContain("idempotency_key_refused");
  expect(counting.runs).toHaveLength(3);
});

test("CAP-2 callers to whom a server gave one session id get results of their own under one request id", async () => {
  const { server, counting, caller } = await deployCounting(rig, () => "everybody's");
  const open = async () => RawClient.inSession(server.url, await caller());
  const [ada, bob] = [await open(), await open()];
  const first = ada.result(2);
  await until(() => counting.runs.length === 1);
  const second = bob.result(2);
  await expect.poll(() => counting.runs.length).toBe(2);
  counting.release();
  expect((await Promise.all([first, second])).map(({ result }) => result !== undefined)).toEqual([true, true]);
});

test("CAP-2 anonymous callers need a key and a session, and closing cancels a call of 2026-07-28 without a key", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  await rig.database.pool.query("UPDATE project SET auth_mode = 'towpath-public' WHERE id = $1", [server.projectId]);
  await until(async () => (await new RawClient(server.url, {}).send({ method: "notifications/x" })).status === 202);
  const anonymous = await RawClient.inSession(server.url, {});
  const keyed = anonymous.with(key("k"));
  await keyed.breakOff(1, callOf(), () => until(() => counting.runs.length === 1));
  await until(async () => (await stateOf(server.projectId)).includes("running"));
  await anonymous.breakOff(2, callOf(2), () => until(() => counting.runs.length === 2));
  await new RawClient(server.url, key("k")).breakOff(1, callOf(3), () => until(() => counting.runs.length === 3));
  await until(() => counting.closed.length === 2);
  counting.release();
  expect((await keyed.result(9)).result?.content[0]?.text).toBe("run 3");
  const other = await RawClient.inSession(server.url, {});
  expect((await other.with(key("k")).result(1)).result?.content[0]?.text).toBe("run 4");

  await rig.database.pool.query("UPDATE project SET auth_mode = 'towpath-cloud' WHERE id = $1", [server.projectId]);
  await until(async () => (await new RawClient(server.url, {}).send({ method: "notifications/x" })).status === 401);
  counting.hold();
  const modern = new RawClient(server.url, { ...(await caller()), "mcp-protocol-version": "2026-07-28" });
  await modern.breakOff(1, callOf(4), () => until(() => counting.runs.length === 5));
  await until(() => counting.closed.length === 3);
});

test("CAP-2 an explicit cancellation ends a call without its client, and the key says so from then on", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  const client = (await RawClient.inSession(server.url, await caller())).with(key("c"));
  await client.breakOff(3, callOf(), () => until(() => counting.runs.length === 1));
  await until(async () => (await stateOf(server.projectId)).includes("running"));
  await client.send({ method: "notifications/cancelled", params: { requestId: 3 } });
  await until(() => counting.closed.length === 1);
  await expect.poll(() => stateOf(server.projectId)).toEqual(["canceled"]);
  expect((await client.result(4)).error?.data.towpath).toBe("call_canceled");
  expect(counting.runs).toHaveLength(1);
});

test("CAP-2 a server that asks a client that has left its call learns that nobody answers, and the call ends", async () => {
  const { server, taskless, caller } = await deployTaskless(rig);
  const client = await RawClient.inSession(server.url, await caller());
  const params = { name: "late" };
  await client.breakOff(3, params, () => until(() => taskless.runs.length === 1));
  await until(async () => (await stateOf(server.projectId)).includes("running"));
  taskless.release();
  await expect.poll(() => stateOf(server.projectId)).toEqual(["waiting"]);
  expect((await client.result(3, params)).result?.content[0]?.text).toBe("It is nobody.");
});

test("CAP-2 an end that nobody saw is unknown and not retried; what was never sent is free again", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  counting.release();
  const client = new RawClient(server.url, { ...(await caller()), ...key("lost") });
  const first = await client.call(1, callOf(1, "break"));
  expect([first.status, await first.text()]).toEqual([502, expect.stringContaining("was not sent again")]);
  await expect.poll(() => stateOf(server.projectId)).toEqual(["unknown"]);
  const again = await client.result(2, callOf(1, "break"));
  expect(again.error?.data.towpath).toBe("outcome_unknown");
  expect(again.error?.message).toMatch(
    /may have been carried out\. .*It was not run again\. .*until 20\d\d-.*another Idempotency-Key/,
  );
  expect(counting.runs).toHaveLength(1);

  const unsent = new RawClient(server.url, { ...(await caller()), ...key("unsent") });
  const failure = { code: "start_failed" as const, message: "It does not start.", retryAfterMs: 60_000 };
  const { instanceId = "", endpoint } = rig.runner.servers.get(server.deploymentId) ?? {};
  if (!endpoint) throw new Error("it was deployed");
  rig.runner.servers.set(server.deploymentId, { instanceId, endpoint, failure });
  await rig.restart({ holdMs: 500 });
  const moved = unsent.at(new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`));
  const refused = await moved.call(1);
  expect(refused.status).toBeGreaterThanOrEqual(500);
  await refused.text();
  rig.runner.servers.set(server.deploymentId, { instanceId, endpoint });
  await until(async () => (await moved.result(2)).result?.content[0]?.text === "run 2");
  expect(counting.runs).toHaveLength(2);
});

test("CAP-2 a call ends on the version that runs it while a new one goes live, and its repeat gets that result", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  const next = await deployCounting(rig);
  const client = new RawClient(server.url, { ...(await caller()), ...key("moved") });
  await client.breakOff(1, callOf(), () => until(() => counting.runs.length === 1));
  const deploymentId = randomUUID();
  await insertDeployment(rig.database.pool, { ...server, deploymentId });
  const running = rig.runner.servers.get(next.server.deploymentId);
  if (!running) throw new Error("it was deployed");
  rig.runner.servers.set(deploymentId, running);
  await rig.database.pool.query("UPDATE route SET deployment_id = $2 WHERE project_id = $1", [
    server.projectId,
    deploymentId,
  ]);
  next.counting.release();
  const other = new RawClient(server.url, await caller());
  await until(async () => {
    // Until the gateway knows the new version, the old one doesn't answer.
    const called = other.call(1, callOf(2), AbortSignal.timeout(300));
    await called.then((answer) => answer.text()).catch(() => {});
    return next.counting.runs.length > 0;
  });
  const repeated = client.result(2);
  counting.release();
  expect((await repeated).result?.structuredContent).toEqual({ amount: 1 });
  expect(counting.runs.filter((asked) => JSON.stringify(asked) === '{"amount":1}')).toHaveLength(1);
  expect(next.counting.runs).not.toContainEqual({ amount: 1 });
});

test("CAP-2 after its time a result is gone and its key is free; switched off, calls end with their connection", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  const url = new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`);
  counting.release();
  const client = new RawClient(url, { ...(await caller()), ...key("old") });
  expect((await client.result(1)).result?.content[0]?.text).toBe("run 1");
  await expect.poll(() => stateOf(server.projectId)).toEqual(["fetched"]);
  const { rows } = await rig.database.pool.query("SELECT sealed FROM kept_result WHERE project_id = $1", [
    server.projectId,
  ]);
  expect(rows[0]?.sealed).not.toContain("run 1");
  await rig.database.pool.query("UPDATE kept_call SET expires_at = now(), state = 'waiting' WHERE project_id = $1", [
    server.projectId,
  ]);
  expect((await client.result(2)).result?.content[0]?.text).toBe("run 2");
  await expect
    .poll(async () => (await rig.rows(server.projectId, 2)).map(({ kept }) => kept))
    .toEqual(["fetched", "expired"]);

  await rig.database.pool.query("UPDATE project SET keep_results_minutes = 0 WHERE id = $1", [server.projectId]);
  await until(async () => (await client.result(3)).result?.content[0]?.text !== "run 2");
  counting.hold();
  const before = counting.runs.length;
  await client.breakOff(4, callOf(), () => until(() => counting.runs.length === before + 1));
  await until(() => counting.closed.length === 1);
});

test("CAP-2 PRJ-11 a key stays one call while its server is renamed", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  counting.release();
  const url = (label: string) => new URL(`http://127.0.0.1:${rig.gateway.port}/${label}/mcp`);
  const client = new RawClient(url(server.label), { ...(await caller()), ...key("renamed") });
  expect((await client.result(1)).result?.content[0]?.text).toBe("run 1");
  const former = `a-${server.label}`;
  await rig.database.pool.query(
    "INSERT INTO former_name (name, project_id, expires_at) VALUES ($1, $2, now() + interval '1 day')",
    [former, server.projectId],
  );
  await until(async () => (await client.at(url(former)).send({ method: "notifications/x" })).status === 202);
  for (const label of [former, server.label])
    expect((await client.at(url(label)).result(2)).result?.content[0]?.text).toBe("run 1");
  expect(counting.runs).toHaveLength(1);
});

test("CAP-2 a key stays one call while the instance's secret is replaced, and its hash doesn't tell which arguments it had", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  counting.release();
  const who = { ...(await caller()), ...key("hashed") };
  const client = () => new RawClient(new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`), who);
  expect((await client().result(1)).result?.content[0]?.text).toBe("run 1");
  const text = "SELECT arguments_hash, claim FROM kept_call WHERE project_id = $1";
  const hash = async () => (await rig.database.pool.query(text, [server.projectId])).rows[0];
  expect((await hash()).arguments_hash).not.toContain(sha256('{"arguments":{"amount":1},"name":"pay"}'));

  const current = "the next secret of the test rig, 32 characters";
  await rig.restart({ secret: current, secrets: { current, previous: [secret] } });
  expect((await client().result(2)).result?.content[0]?.text).toBe("run 1");
  expect((await client().result(3, callOf(2))).error?.data.towpath).toBe("idempotency_key_refused");
  // One of a secret that is no longer known.
  await rig.database.pool.query("UPDATE kept_call SET arguments_hash = 'former.hash' WHERE project_id = $1", [
    server.projectId,
  ]);
  expect((await client().result(4)).result?.content[0]?.text).toBe("run 1");
  expect(counting.runs).toHaveLength(1);
  await rig.restart({ secret, secrets: { current: secret, previous: [] } });

  await rig.database.pool.query("UPDATE kept_call SET expires_at = now() WHERE project_id = $1", [server.projectId]);
  await new KeptCallStore(rig.database.pool).sweep();
  expect(await hash()).toEqual({ arguments_hash: "", claim: null });
});

test("CAP-2 results beyond the quota are not kept, and the call is still not run twice", async () => {
  const { server, counting, caller } = await deployCounting(rig);
  await rig.restart({ keptBytes: 1000 });
  const url = new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`);
  const who = await caller();
  const client = (name: string) => new RawClient(url, { ...who, ...key(name) });
  for (const [at, name] of ["a", "b", "c"].entries()) {
    await client(name).breakOff(1, callOf("x".repeat(200)), () => until(() => counting.runs.length === at + 1));
  }
  counting.release();
  await expect.poll(async () => (await stateOf(server.projectId)).toSorted()).toContain("dropped");
  await expect.poll(() => stateOf(server.projectId)).not.toContain("running");
  const answers = await Promise.all(["a", "b", "c"].map((name) => client(name).result(2, callOf("x".repeat(200)))));
  const gone = answers.filter(({ error }) => error?.data.towpath === "result_gone");
  expect([gone.length > 0, gone.length < 3, counting.runs.length]).toEqual([true, true, 3]);
});

test("CAP-2 what tasks ask, and the answers to it, count for the quota, and what is beyond is refused in words", async () => {
  const { server, caller } = await deployTaskless(rig);
  const who = await caller();
  const urlWith = async (keptBytes: number) => {
    await rig.restart({ keptBytes });
    return new URL(`http://127.0.0.1:${rig.gateway.port}/${server.label}/mcp`);
  };
  const url = await urlWith(5000);
  const ask = (method: string, params: object = {}) => askModern(url, who, { method, params });
  await ask("server/discover");
  const { taskId } = (await ask("tools/call", { name: "ask", arguments: { also: "also" } })).result;
  await expect.poll(async () => (await ask("tasks/get", { taskId })).result.status).toBe("input_required");
  const update = (name: string) =>
    ask("tasks/update", { taskId, inputResponses: { also: { action: "accept", content: { name } } } });
  expect((await update("x".repeat(6000))).error).toMatchObject({
    message: expect.stringContaining("leave no room for these answers"),
    data: { towpath: "server_busy" },
  });
  expect((await update("Bob")).error).toBeUndefined();

  const client = await connectAnswering(await urlWith(50), who);
  const asking = (await createTask(client, "ask")).task.taskId;
  await expect.poll(async () => (await client.experimental.tasks.getTask(asking)).status).toBe("failed");
  expect((await client.experimental.tasks.getTask(asking)).statusMessage).toMatch(/left no room for that/);
  await client.close();
});

test("CAP-2 the processes of a gateway share the number of calls that a project may have without their client", () => {
  const admitted = { bodyBytes: 1, call: { route: { projectId: randomUUID() } } };
  const live = { admitted, ended: new Promise(() => {}) } as never;
  const unattended = new Unattended(0.5);
  while (unattended.hasRoomFor(live)) unattended.enter(live);
  expect(unattended.size).toBe(50);
});
