import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@towpath/db";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { operatorToken } from "../instance/operator.ts";
import { addOwnPerson, type OwnPerson, organizationOf, restOf } from "../instance/own-people.ts";
import { attackOwnValues, ownSource, ownVariable } from "../instance/own-values-attack.ts";
import { databaseUrlOf, runningProcessOf } from "../instance/processes.ts";
import { towpath, towpathWith } from "../instance/towpath-process.ts";
import { isThorough, rounds } from "../thorough.ts";

// Many people at once call one server with values of their own, while values change, servers crash and the gateway is
// killed. `./towpath test bench callers-own` measures the same on an instance of its own.

const dataDirectory = inject("dataDirectory");
const { pool, close } = openDatabase(databaseUrlOf(dataDirectory), { maxConnections: 2 });
const name = `own-attack-${process.pid}`;
const rest = restOf(inject("url"), name);
const url = `${inject("serversUrl")}/${name}/mcp`;
let people: readonly OwnPerson[];
let operator: string;

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), "towpath-own-attack-"));
  await writeFile(join(directory, "server.py"), ownSource);
  await writeFile(join(directory, "requirements.txt"), "fastmcp>=4,<5\n");
  const deployed = await towpath("deploy", directory, "--name", name, "--data-dir", dataDirectory);
  await rm(directory, { recursive: true });
  expect(deployed.stdout + deployed.stderr).toContain("Live: ");
  const organizationId = await organizationOf(pool, name);
  people = await Promise.all(Array.from({ length: rounds(4, 12) }, () => addOwnPerson(pool, organizationId)));
  operator = await operatorToken({ dataDirectory });
  const secret = { keyName: ownVariable, secretValue: "for-builds.0.x", perCaller: true };
  expect((await rest(operator, "POST", "/secrets", secret)).status).toBe(200);
  // Fewer than people, so that instances end for others and start again.
  expect((await rest(operator, "PATCH", "", { callerInstances: rounds(3, 8) })).status).toBe(200);
}, 400_000);
afterAll(close);

test(
  "CAP-1 attacked calls of many people: no answer has another's value, none an earlier one, a deletion counts within a second",
  async () => {
    const calls = rounds(80, 10_000);
    // A busy machine makes fewer, and longer.
    const within = { ms: rounds(20_000, 1_500_000), answered: rounds(20, 5000) };
    const result = await attackOwnValues({
      url,
      rest,
      people,
      calls,
      within,
      atOnce: 2,
      disturbEvery: rounds(40, 1500),
      disturb: async () => void process.kill(runningProcessOf(dataDirectory, "gateway"), "SIGKILL"),
    });
    expect(result).toMatchObject({ crossed: 0, stale: 0 });
    expect(result.answered).toBeGreaterThanOrEqual(within.answered);
    if (isThorough) expect(result.servedUntilMs.length).toBeGreaterThan(10);
    const measured = result.servedUntilMs.filter((ms) => !Number.isNaN(ms));
    expect(measured.filter((ms) => ms > 1000)).toEqual([]);
  },
  isThorough ? 1_800_000 : 240_000,
);

test.runIf(isThorough)(
  "CAP-1 the owner's check is called with what a person entered, in their own instance, and shows no value",
  async () => {
    const [person, other] = people as [OwnPerson, OwnPerson];
    const dataDir = ["--data-dir", dataDirectory];
    const changed = await towpath("settings", name, "--check-values", "accepted {}", ...dataDir);
    expect(changed.stdout).toContain("values checked by: none → accepted");
    expect((await rest(person.key, "GET", "/my-values")).body).toMatchObject({ isChecked: true });
    const enter = async (word: string) => {
      const value = `${person.userId}.1000.${word}.end`;
      await rest(person.key, "PATCH", "/my-values", { values: [{ keyName: ownVariable, value }] });
      return rest(person.key, "POST", "/my-values/check");
    };
    const refused = await enter("wrong");
    expect(refused.body).toMatchObject({ outcome: "refused" });
    expect(JSON.stringify(refused.body)).toContain(`does not know [${ownVariable}]`);
    expect(JSON.stringify(refused.body)).not.toContain(person.userId);
    expect((await enter("right")).body).toEqual({ outcome: "accepted", answer: null });
    // In the terminal, as the person.
    const env = { TOWPATH_URL: inject("url"), TOWPATH_API_KEY: person.key };
    const accepted = await towpathWith({ env }, "env", name, "check", "--mine");
    expect(accepted).toMatchObject({ status: 0, stdout: expect.stringContaining("The server accepts them.") });
    const short = await towpathWith({ env, input: "x.wrong.y" }, "env", name, "set", ownVariable, "--mine");
    expect(short.status).toBe(1);
    expect(short.stdout + short.stderr).toContain(`does not know [${ownVariable}]`);
    await rest(operator, "PATCH", "", { callerProbe: { tool: "absent" } });
    expect((await rest(other.key, "POST", "/my-values/check")).body).toMatchObject({
      outcome: expect.not.stringMatching("accepted"),
    });
    await rest(operator, "PATCH", "", { callerProbe: null });
    expect((await rest(person.key, "POST", "/my-values/check")).status).toBe(409);
  },
);

test("CAP-1 who has another person's session id gets neither their instance nor their value", async () => {
  const [ada, bob] = people as [OwnPerson, OwnPerson];
  for (const { userId, key } of [ada, bob])
    await rest(key, "PATCH", "/my-values", { values: [{ keyName: ownVariable, value: `${userId}.2000.x` }] });
  const post = async (key: string, headers: Record<string, string>, message: object) =>
    fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
  const clientInfo = { name: "thief", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const opened = await post(ada.key, {}, { method: "initialize", params });
  const session = {
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  await opened.text();
  const call = { method: "tools/call", params: { name: "whoami", arguments: { who: ada.userId } } };
  expect(session["mcp-session-id"]).not.toBe("");
  const own = await post(ada.key, session, call);
  expect(await own.text()).toContain(`${ada.userId}.2000`);
  const stolen = await post(bob.key, session, call);
  expect(await stolen.text()).not.toContain(ada.userId);
  expect(stolen.status).toBe(404);
});
