import { generateKeyPair, SignJWT } from "jose";
import { expect, test } from "vitest";
import { problemOfClaims, readAssertion } from "./assertion-claims.ts";

const now = 1_800_000_000;
const issuer = "https://towpath.example";
const resource = "https://weather.towpath.example/mcp";
const claims = {
  iss: "https://idp.example",
  sub: "U1",
  aud: issuer,
  client_id: "app",
  resource,
  scope: "mcp",
  jti: "one",
  iat: now,
  exp: now + 300,
};
const header = { alg: "ES256", kid: "k", typ: "oauth-id-jag+jwt" };
const { privateKey } = await generateKeyPair("ES256");
const without = (members: object) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
const encoded = (part: object) => Buffer.from(JSON.stringify(without(part))).toString("base64url");
/** Unsigned, as the form is read first. */
const made = (change: object = {}, headerChange: object = {}) =>
  `${encoded({ ...header, ...headerChange })}.${encoded({ ...claims, ...change })}.c2ln`;
const expected = { issuer, clientId: "app", resource: null, scope: "mcp", now: now * 1000 };

/** Which problem an assertion has, and with what. */
function problemOf(assertion: string, more: { readonly resource?: string; readonly now?: number } = {}): string {
  const read = readAssertion(assertion);
  const problem = "problem" in read ? read : problemOfClaims(read, { ...expected, ...more });
  if (problem !== null) expect(problem.description).toMatch(/^The assertion .{10,}\.$/);
  return problem === null ? "none" : `${problem.problem.slice("assertion_".length)} ${problem.detail}`;
}

test("CAP-3 an assertion is read in every form that the draft allows", async () => {
  const signed = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
  expect(readAssertion(signed)).toEqual({
    issuer: claims.iss,
    subject: "U1",
    audiences: [issuer],
    clientId: "app",
    resources: [resource],
    scopes: ["mcp"],
    id: "one",
    kid: "k",
    issuedAt: now * 1000,
    notBefore: now * 1000,
    expiresAt: (now + 300) * 1000,
    verifiedEmail: null,
  });
  const several = { aud: [issuer], resource: [resource, "https://other.example/mcp"] };
  expect(problemOf(made(several), { resource })).toBe("none");
  expect(problemOf(made({ scope: undefined, act: { sub: "agent" } }))).toBe("none");
  expect(problemOf(made({}, { typ: "application/OAuth-ID-JAG+jwt", alg: "RS256" }))).toBe("none");
  const named = (more: object) => readAssertion(made({ email: "Ada@Example.com", ...more }));
  expect(named({ email_verified: true })).toMatchObject({ verifiedEmail: "ada@example.com" });
  for (const more of [{}, { email_verified: false }, { email_verified: "true" }, { email: 7, email_verified: true }])
    expect(named(more)).toMatchObject({ verifiedEmail: null });
});

test.each([
  ["typ", "JWT"],
  ["typ", undefined],
  ["typ", 7],
  ["alg", "none"],
  ["alg", "HS256"],
  ["alg", "ES384"],
  ["kid", undefined],
  ["kid", "k".repeat(1001)],
  ["crit", ["b64"]],
])("CAP-3 an assertion whose header has %s %o is refused", (name, value) => {
  const read = readAssertion(made({}, { [name]: value }));
  expect(read).toMatchObject({ problem: "assertion_invalid", detail: name, resources: [resource] });
});

test.each([
  ["iss", undefined],
  ["sub", ""],
  ["sub", { a: 1 }],
  ["jti", undefined],
  ["client_id", ["app"]],
  ["aud", undefined],
  ["aud", []],
  ["aud", [issuer, "https://other.example"]],
  ["resource", undefined],
  ["resource", [7]],
  ["resource", Array(21).fill(resource)],
  ["exp", undefined],
  ["exp", `${now + 300}`],
  ["exp", now + 3601],
  ["exp", Number.MAX_VALUE],
  ["iat", undefined],
  ["nbf", "soon"],
  ["scope", ["mcp"]],
  ["cnf", { jkt: "x" }],
  ["authorization_details", [{ type: "x" }]],
  ["tenant", "acme"],
  ["aud_tenant", "acme"],
])("CAP-3 an assertion whose claim %s is %o is refused, as are times that no date has", (name, value) => {
  expect(problemOf(made({ [name]: value }))).toBe(`invalid ${name}`);
});

test("CAP-3 what is for others, for later or for earlier is refused, clocks may differ by ten seconds", () => {
  expect(problemOf(made({ aud: `${issuer}/` }))).toBe(`for_other_issuer ${issuer}/`);
  expect(problemOf(made({ client_id: "App" }))).toBe("for_other_client App");
  expect(problemOf(made(), { resource: `${resource}/x` })).toBe(`for_other_server ${resource}`);
  expect(problemOf(made({ resource: [resource, "https://o.example"] }))).toContain("for_other_server");
  for (const scope of ["", "chat.read", "mcp:read"]) expect(problemOf(made({ scope }))).toBe(`scope_missing ${scope}`);
  const at = (seconds: number) => problemOf(made(), { now: (now + seconds) * 1000 });
  expect([at(-10), at(0), at(309)]).toEqual(["none", "none", "none"]);
  expect([at(-11), at(310)]).toEqual([expect.stringContaining("early"), expect.stringContaining("expired")]);
  expect(problemOf(made({ nbf: now + 11 }))).toContain("early");
  for (const text of ["", "x", "a.b.c", `${made()}.x`, "x".repeat(8193)])
    expect(problemOf(text)).toMatch(/^invalid (form|length)$/);
});
