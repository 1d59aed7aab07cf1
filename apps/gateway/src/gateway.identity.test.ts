import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asHeaderValue } from "./forward/identity.ts";
import { addMember, rpc, sendRaw, statusOf, storeApiKey } from "./testing/clients.ts";
import { createRig, type DeployedServer, type Rig } from "./testing/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

/** A server that answers with the raw headers that it got. */
function echoHeaders(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(request.rawHeaders));
}

/** Sends header lines as they are; the names and values that the server got, or the status of a refusal. */
async function sentTo(server: DeployedServer, lines: readonly string[]): Promise<[string, string][] | number> {
  const body = rpc();
  const head = [
    `POST ${server.url.pathname} HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    "Connection: close",
    `Content-Length: ${body.length}`,
    ...lines,
  ];
  const answer = await sendRaw(rig.gateway.port, `${head.join("\r\n")}\r\n\r\n${body}`);
  if (statusOf(answer) !== 200) return statusOf(answer);
  const raw: string[] = JSON.parse(/\[.*\]/s.exec(answer)?.[0] ?? "[]");
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as [string, string]] : []));
}

/** All but the request's id, which says nothing of the caller. */
const ours = (headers: [string, string][]) =>
  headers.filter(([name]) => /^towpath/i.test(name) && name !== "towpath-request-id");
const authorizationOf = ({ bearer }: { bearer: { authorization: string } }) => `Authorization: ${bearer.authorization}`;

test("GW-11 the server learns a person's id, role and address, a key's id, and nothing that the platform does not know", async () => {
  const server = await rig.deploy(echoHeaders, { authMode: "towpath-cloud" });
  const { organizationId } = server;
  const email = "zoë 100%@bücher.example";
  const userId = await addMember(rig, organizationId, { role: "admin", email });
  const personal = await storeApiKey(rig, organizationId, { userId });
  const headers = await sentTo(server, [authorizationOf(personal)]);
  expect(headers).not.toBeTypeOf("number");
  expect(ours(headers as [string, string][])).toEqual([
    ["towpath-actor", `user:${userId}`],
    ["towpath-actor-type", "user"],
    ["towpath-actor-organization", organizationId],
    ["towpath-actor-user", userId],
    ["towpath-actor-role", "admin"],
    ["towpath-actor-email", "zo%C3%AB%20100%25@b%C3%BCcher.example"],
  ]);
  const shared = await storeApiKey(rig, organizationId);
  expect(ours((await sentTo(server, [authorizationOf(shared)])) as [string, string][])).toEqual([
    ["towpath-actor", `key:${shared.id}`],
    ["towpath-actor-type", "api-key"],
    ["towpath-actor-organization", organizationId],
  ]);
});

test("GW-11 a text that is no header value is percent-encoded, so that any URL decoder restores it", () => {
  for (const plain of ["ada@example.com", "a+b!#$&'*/=?^_`{|}~-.c@example.com", ""]) {
    expect(asHeaderValue(plain)).toBe(plain);
  }
  for (const text of ["a b", "50%", "é", "\u{1f9a6}", "a\r\nTowpath-Actor: admin", "\u007f", "%41", " "]) {
    const value = asHeaderValue(text);
    expect(value).toMatch(/^[!-~]*$/);
    expect(value).not.toBe(text);
    expect(decodeURIComponent(value)).toBe(text);
  }
});

const forged = [
  "towpath-actor: user:forged",
  "Towpath-Actor: user:forged",
  "TOWPATH-ACTOR-ROLE: forged",
  "Towpath_Actor: forged",
  "towpath_actor_email: forged",
  "towpath-actor_role: forged",
  "towpath.actor: forged",
  "towpath~actor: forged",
  "towpathactor: forged",
  "towpath: forged",
  "towpath-actor:forged",
  "towpath-actor: \t forged \t ",
  "towpath-actor: forged\r\ntowpath-actor: forged",
  "towpath-assertion: forged",
  "Towpath_Assertion: forged",
  "Towpath-Request-Id: forged",
  "Connection: towpath-actor, towpath-actor-role\r\ntowpath-actor: forged",
];
/** Names that RFC 9110 §5.1 or RFC 9112 §5.1 forbids: the gateway refuses the whole request. */
const malformed = [
  "towpath-actor : forged",
  " towpath-actor: forged",
  "towpath-actor\t: forged",
  "x: 1\r\n\ttowpath-actor: forged",
  "x: 1\ntowpath-actor\0: forged",
  "x: 1\rtowpath-actor: forged",
  "towpath actor: forged",
];

test.each(["towpath-cloud", "towpath-public", "passthrough"] as const)(
  "GW-11 no spelling of a client's own identity headers reaches a server in mode %s",
  async (authMode) => {
    const server = await rig.deploy(echoHeaders, { authMode });
    const key = await storeApiKey(rig, server.organizationId);
    const credentials = authMode === "towpath-cloud" ? [authorizationOf(key)] : [];
    const expected = authMode === "towpath-cloud" ? 3 : 0;
    for (const line of forged) {
      const headers = await sentTo(server, [line, "X-Kept: 1", ...credentials]);
      if (typeof headers === "number") throw new Error(`${JSON.stringify(line)} was refused with ${headers}`);
      expect([line, JSON.stringify(headers)]).toEqual([line, expect.not.stringContaining("forged")]);
      expect([line, ours(headers).length]).toEqual([line, expected]);
      expect(headers).toContainEqual(["X-Kept", "1"]);
    }
    for (const line of malformed) {
      const answer = await sentTo(server, [...credentials, line]);
      const seen = JSON.stringify(answer);
      // A line that is folded into the value before it names no header; all others are refused.
      if (typeof answer === "number") expect([line, answer]).toEqual([line, 400]);
      else expect([line, ours(answer).length, seen]).toEqual([line, expected, expect.anything()]);
    }
  },
);
