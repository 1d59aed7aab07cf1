import { randomUUID } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { listGrants, revokeGrant } from "@towpath/core/calling/oauth";
import { attemptsOf, readSignInSteps } from "@towpath/logs";
import { signInFaultTexts } from "@towpath/logs/sign-in-texts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { services } from "~/compose.server.ts";
import { isThorough } from "../../../tests/thorough.ts";
import { createRig, type DeployedServer, type Rig, secret, until } from "../../gateway/src/testing/rig.ts";
import { networkHeader, type OAuthSite, startOAuthSite } from "./oauth-site.ts";
import {
  type ClientFault,
  type ClientKind,
  clientFaults,
  clientKinds,
  EmulatedClient,
  type Person,
} from "./sign-in-clients.ts";

const minute = 60_000;
const day = 86_400_000;
const days = 30;
let site: OAuthSite;
let rig: Rig;
let documents: Server;
let other: DeployedServer;
/** One for each fault: a page shows the last attempts at its server. */
const servers = new Map<ClientFault, DeployedServer>();

const answerEmpty: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" }).end('{"jsonrpc":"2.0","id":1,"result":{}}');
};

/** The clock of authorization server and gateway, which run in this process. Ends about now. */
const pass = (ms: number) => void vi.setSystemTime(Date.now() + ms);

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - (days + 2) * day });
  documents = createServer((request, response) => {
    const client_id = `http://localhost:${(documents.address() as AddressInfo).port}${request.url}`;
    const redirect_uris = [clientKinds.document.redirectUri];
    response.end(JSON.stringify({ client_id, client_name: "document", redirect_uris }));
  });
  await new Promise<void>((done) => documents.listen(0, "127.0.0.1", done));
  site = await startOAuthSite();
  rig = await createRig({ TOWPATH_URL: site.url });
  const environment = {
    DATABASE_URL: rig.database.url,
    TOWPATH_DATA_DIR: rig.runDirectory,
    TOWPATH_SECRET: secret,
    TOWPATH_URL: site.url,
    TOWPATH_SERVER_URL: "http://localhost:8080/{name}",
    TOWPATH_LOG_LEVEL: "silent",
    TOWPATH_LOCAL_OAUTH_CLIENTS: "yes",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  site.open();
  for (const fault of clientFaults) servers.set(fault, await rig.deploy(answerEmpty, { authMode: "towpath-cloud" }));
  other = await rig.deploy(answerEmpty, { authMode: "towpath-cloud" });
});
afterAll(async () => {
  await site.close();
  await rig.close();
  documents.close();
  vi.useRealTimers();
});

let networks = 0;

/** A member whose browser is signed in. */
async function newPerson(network: string, organizationId: string): Promise<Person & { readonly userId: string }> {
  const email = `${randomUUID()}@example.com`;
  const sent = { method: "POST", headers: { [networkHeader]: network }, body: new URLSearchParams({ email }) };
  const answer = await fetch(`${site.url}/sign-up`, sent);
  const cookie = answer.headers.getSetCookie().map((line) => line.split(";", 1)[0]);
  const { rows } = await rig.database.pool.query(`SELECT id FROM "user" WHERE email = $1`, [email]);
  await rig.database.pool.query(
    "INSERT INTO member (id, organization_id, user_id, role) VALUES ($1, $2, $3, 'member')",
    [randomUUID(), organizationId, rows[0].id],
  );
  return { cookie: cookie.join("; "), asked: 0, userId: rows[0].id };
}

async function newClient(kind: ClientKind, fault: ClientFault, network = `10.${++networks}.0.1`) {
  const server = servers.get(fault) ?? other;
  const person = await newPerson(network, server.organizationId);
  const { port } = documents.address() as AddressInfo;
  const parts = {
    issuer: site.url,
    resource: `http://localhost:8080/${server.label}/mcp`,
    url: server.url,
    otherUrl: other.url,
    documentUrl: `http://localhost:${port}/${fault.replaceAll(" ", "-")}.json`,
  };
  return { client: new EmulatedClient(kind, fault, { person, network, parts }), person, server };
}

const kinds = Object.keys(clientKinds) as ClientKind[];
/** Every fault with at least one kind of client, and every kind with two faults; all pairs in the thorough run. */
const pairs = clientFaults.flatMap((fault, at) =>
  kinds.filter((_, index) => isThorough || index === at % kinds.length).map((kind) => [kind, fault] as const),
);

/** What is shown of a faulty client, unless its kind can't have the fault. */
const expected: Readonly<Partial<Record<ClientFault, readonly string[]>>> = {
  "parallel windows": ["refresh_raced"],
  "never renews": ["refresh_unused", "tokens_lost"],
  "lost answers": ["refresh_repeated"],
  "clock ahead": ["refresh_early"],
  "registers again": ["registered_again"],
  "loses tokens": ["tokens_lost"],
  "other resource": ["resource_inexact"],
};

async function attemptsOfPerson({ projectId }: DeployedServer, userId: string) {
  const { attempts } = attemptsOf(await readSignInSteps(rig.database.pool, projectId), Date.now());
  return attempts.filter((attempt) => attempt.userId === userId);
}

test.runIf(isThorough)(
  "CAP-3 GW-4 GW-5 in 30 days people are asked once, with any fault of their client, and disconnecting works at once",
  async () => {
    const clients = await Promise.all(pairs.map(([kind, fault]) => newClient(kind, fault)));
    for (let at = 0; at < days; at++) {
      // Minutes are limited by the database's clock, which stands still here.
      await rig.database.pool.query("TRUNCATE rate_limit");
      for (const { client } of clients) client.start();
      // Two calls, a pause in which tokens expire, a call, a long pause.
      for (const pause of [3, 25, 11]) {
        const statuses = await Promise.all(clients.map(async ({ client }) => [client.name, await client.call()]));
        const failed = statuses.filter(([, status]) => status !== 200 && status !== "network broke");
        expect([at, ...failed]).toEqual([at]);
        pass(pause * minute);
      }
      if (at < days - 1) pass(day - 39 * minute - 1000);
    }
    await services().signIns.stop(2000);
    for (const { client, person, server } of clients) {
      expect([client.name, client.fault, person.asked]).toEqual([client.name, client.fault, 1]);
      const attempts = await attemptsOfPerson(server, person.userId);
      const faults = new Set<string>(attempts.flatMap((attempt) => attempt.faults.map(({ fault }) => fault)));
      const isLocal = clientKinds[client.kind].redirectUri.startsWith("http:");
      const must = [
        ...(client.kind === "script" ? ["refresh_unused"] : (expected[client.fault] ?? [])),
        ...(isLocal && client.fault === "changed address" ? ["redirect_alias"] : []),
      ];
      for (const fault of must)
        expect([client.name, client.fault, fault, [...faults]]).toEqual([
          client.name,
          client.fault,
          fault,
          expect.arrayContaining([fault]),
        ]);
      // Each sign-in but the first is explained, by what the client did or by the refusal before.
      const explained = attempts.filter(({ faults, problem }) => faults.length > 0 || problem !== null);
      expect([client.name, client.fault, explained.length >= Math.min(client.signIns, attempts.length) - 1]).toEqual([
        client.name,
        client.fault,
        true,
      ]);
      for (const { fault } of attempts.flatMap((attempt) => attempt.faults))
        expect(signInFaultTexts[fault].text.length).toBeGreaterThan(40);
    }
    for (const { client, person } of clients) {
      const ctx = services().contextFor({ kind: "user", userId: person.userId, ipAddress: null });
      // Twice, as an answer may get lost.
      for (let time = 0; (await client.call()) !== 200 && time < 2; time++) pass(5 * minute);
      expect([client.name, await client.status()]).toEqual([client.name, 200]);
      const grants = await listGrants({ ctx });
      for (const { id } of grants) await revokeGrant({ ctx, input: { grantId: id } });
      const began = performance.now();
      await until(async () => (await client.status()) === 401);
      expect(performance.now() - began).toBeLessThan(1000);
    }
  },
  600_000,
);

test("CAP-3 GW-5 an app gets access silently in a page of its own only, by 302, and a loop of sign-ins ends at a question", async () => {
  const { client, person, server } = await newClient("terminal", "loses tokens");
  expect([await client.call(), person.asked]).toEqual([200, 1]);
  const { rows } = await rig.database.pool.query(
    "SELECT id FROM oauth_client WHERE name = $1 ORDER BY created_at DESC",
    [client.name],
  );
  const headers = { cookie: person.cookie, [networkHeader]: client.network };
  const hop = (more: Record<string, string> = {}, cookie = person.cookie, parameters: Record<string, string> = {}) => {
    const query = new URLSearchParams({
      client_id: rows[0].id,
      redirect_uri: clientKinds.terminal.redirectUri,
      response_type: "code",
      code_challenge: "x".repeat(43),
      code_challenge_method: "S256",
      resource: `http://localhost:8080/${server.label}/mcp`,
      ...parameters,
    });
    return fetch(`${site.url}/oauth/authorize?${query}`, {
      headers: { ...headers, ...more, cookie },
      redirect: "manual",
    });
  };
  const goesTo = async (answer: Promise<Response>) => {
    const { status, headers: given } = await answer;
    // Not 307, with which a browser would send a form on (RFC 9700, section 4.12).
    expect([status, given.get("cache-control")]).toEqual([302, "private, no-store"]);
    return given.get("location")?.startsWith("/oauth/consent") ? "question" : "client";
  };
  expect(await goesTo(hop({ "sec-fetch-dest": "iframe" }))).toBe("question");
  expect(await goesTo(hop({}, person.cookie, { prompt: "consent" }))).toBe("question");
  expect(await goesTo(hop({}, ""))).toBe("question");
  expect(await goesTo(hop({}, (await newPerson(client.network, server.organizationId)).cookie))).toBe("question");
  // A client that takes a refused call for a missing sign-in starts over although it gets access.
  for (let time = 0; time < 3; time++) expect(await goesTo(hop())).toBe("client");
  expect(await goesTo(hop())).toBe("question");
  pass(11 * minute);
  expect(await goesTo(hop())).toBe("client");
});

test.runIf(isThorough)(
  "CAP-3 a client that renews without end is slowed down, and leaves the others of its network theirs",
  async () => {
    const { client } = await newClient("terminal", "clock behind");
    const neighbor = await newClient("hosted", "clock behind", client.network);
    for (const each of [client, neighbor.client]) expect(await each.call()).toBe(200);
    const renew = () => client.send(client.refreshToken ?? "");
    // The first answer's token stays the same for a minute.
    const { refresh_token: token } = (await (await renew()).json()) as { refresh_token: string };
    const answers = await Promise.all(Array.from({ length: 80 }, () => client.send(token)));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    expect([count(200), count(429)]).toEqual([60, 20]);
    expect((await client.send(token)).headers.get("retry-after")).toMatch(/^[1-9]\d?$/);
    expect((await neighbor.client.send(neighbor.client.refreshToken ?? "")).status).toBe(200);
    await rig.database.pool.query("TRUNCATE rate_limit");
    pass(minute);
    expect((await client.send(token)).status).toBe(200);
  },
);
