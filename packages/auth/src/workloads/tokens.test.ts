import { expect, test } from "vitest";
import { admitsSubject } from "./subject-pattern.ts";
import { problemOf, readTokenHead } from "./token-head.ts";

const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
const issuer = "https://cluster.test";
const claims = { iss: issuer, sub: "system:serviceaccount:a:b", aud: ["https://x/mcp"], iat: 1000, exp: 2000 };
const headOf = (change: object = {}, header: object = {}) =>
  readTokenHead(
    `${part({ alg: "RS256", kid: "k", ...header })}.${part({ ...claims, ...change })}.c2ln`,
    "https://own.test",
  );

test.each([
  ["system:serviceaccount:agents:planner", "system:serviceaccount:agents:planner", true],
  ["system:serviceaccount:agents:*", "system:serviceaccount:agents:planner", true],
  ["system:serviceaccount:agents:*", "system:serviceaccount:agents2:planner", false],
  ["system:serviceaccount:*:*", "system:serviceaccount:a:b", true],
  ["system:serviceaccount:*", "system:serviceaccount:a:b", false],
  ["system:serviceaccount:unit-*-prod:w*r", "system:serviceaccount:unit-1-prod:worker", true],
  ["system:serviceaccount:unit-*-prod:w*r", "system:serviceaccount:unit-prod:worker", false],
  ["ab*ba", "aba", false],
  ["ab*ba", "abba", true],
  ["*a*b*", "xxaxxbxx", true],
  ["*a*b*", "xxbxxaxx", false],
  ["repo:acme/*:ref:refs/heads/main", "repo:acme/site:ref:refs/heads/main", true],
  ["a.c", "abc", false],
])("KEY-6 the pattern %s and the subject %s", (pattern, subject, admitted) => {
  expect(admitsSubject(pattern, subject)).toBe(admitted);
});

test("KEY-6 a hostile pattern takes no time", () => {
  const before = process.threadCpuUsage();
  expect(admitsSubject(`${"*a".repeat(100)}*b`, "a".repeat(700))).toBe(false);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000, "milliseconds of processor time").toBeLessThan(50);
});

test("KEY-6 only a signed JWT of another issuer with all claims and bounded sizes is looked at", () => {
  expect(headOf()).toMatchObject({ issuer, subject: claims.sub, kid: "k", audiences: ["https://x/mcp"] });
  expect(headOf({ iss: "https://own.test" })).toBeNull();
  expect(headOf({ iss: undefined })).toBeNull();
  expect(readTokenHead("no.jwt", "x")).toBeNull();
  for (const header of [
    { alg: "none" },
    { alg: "HS256" },
    { alg: "PS256" },
    { kid: undefined },
    { kid: "k".repeat(300) },
  ])
    expect(headOf({}, header), JSON.stringify(header)).toBe("unsupported");
  for (const typ of ["at+jwt", "logout+jwt", "towpath-user+jwt"]) expect(headOf({}, { typ })).toBe("unsupported");
  expect(headOf({}, { typ: "JWT" })).toMatchObject({ issuer });
  expect(headOf({}, { crit: ["b64"], b64: false })).toBe("unsupported");
  for (const change of [
    { sub: undefined },
    { sub: "two words" },
    { sub: "x".repeat(701) },
    { sub: "line\nbreak" },
    { aud: undefined },
    { aud: [1] },
    { aud: Array.from({ length: 21 }, () => "a") },
    { exp: undefined },
    { exp: "soon" },
    { iat: undefined },
    { iss: "https://x".repeat(100) },
    { padding: "x".repeat(9000) },
  ])
    expect(headOf(change), JSON.stringify(change).slice(0, 60)).toBe("unsupported");
});

test("KEY-6 a token counts for its audience, while it is current, and for a day at most", () => {
  const problem = (change: object, now: number, resource = "https://x/mcp") => {
    const head = headOf(change);
    if (head === null || head === "unsupported") throw new Error("a head was expected");
    return problemOf(head, resource, now);
  };
  expect(problem({}, 1_500_000)).toBeNull();
  expect(problem({ aud: "https://x/mcp" }, 1_500_000)).toBeNull();
  expect(problem({}, 1_500_000, "https://y/mcp")).toBe("other_audience");
  expect(problem({}, 2_009_999)).toBeNull();
  expect(problem({}, 2_010_000)).toBe("expired");
  expect(problem({}, 989_000)).toBe("not_yet_valid");
  expect(problem({ nbf: 1600 }, 1_500_000)).toBe("not_yet_valid");
  expect(problem({ exp: 1000 + 86_400 }, 1_500_000)).toBeNull();
  expect(problem({ exp: 1001 + 86_400 }, 1_500_000)).toBe("lives_too_long");
});
