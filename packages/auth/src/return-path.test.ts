import fc from "fast-check";
import { expect, test } from "vitest";
import { safeReturnPath } from "./return-path.ts";

const site = "https://towpath.example";

/** How a browser resolves a `Location` header on our site. */
const whereBrowsersGo = (location: string) => new URL(location, `${site}/login`);

test("AUTH-1 paths of this site are kept unchanged", () => {
  for (const path of [
    "/",
    "/acme/servers",
    "/acme/echo-one/logs?status=error&methodType=tool%3Aecho#row",
    "/acme/servers?next=https://elsewhere.example/",
    "/%C3%A9t%C3%A9",
    "/a%20b",
  ]) {
    expect(safeReturnPath(path)).toBe(path);
  }
});

test.each([
  "//evil.example",
  "///evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "https://evil.example",
  "https:evil.example",
  "javascript:alert(1)",
  "data:text/html,x",
  "evil.example",
  "",
  "/\t/evil.example",
  "/\n/evil.example",
  "/\r\n/evil.example",
  "\t//evil.example",
  " //evil.example",
  "/%2Fevil.example",
  "/%2fevil.example",
  "/%5Cevil.example",
  "/%252F%252Fevil.example",
  "/%25252Fevil.example",
  "/%09/evil.example",
  "/..//evil.example",
  "/a/..//evil.example",
  "/./\\evil.example",
  "/%0d%0aset-cookie:a=b",
  "/\u2028/evil.example",
  "/login",
  "/login?returnTo=/login",
  "/logout",
  "/provider/sign-in",
])("AUTH-1 rejects %j", (value) => {
  expect(safeReturnPath(value)).toBe("/");
});

test("AUTH-1 rejects what is not a string or too long", () => {
  expect(safeReturnPath(`/${"a".repeat(3000)}`)).toBe("/");
  for (const value of [null, undefined, 1, {}, ["/a"], Symbol("a")]) expect(safeReturnPath(value)).toBe("/");
});

test("AUTH-1 property: for any input the browser stays on the site, decoded any number of times", () => {
  const pieces = fc.constantFrom(
    "/",
    "\\",
    "%2f",
    "%5c",
    "%25",
    "%09",
    "\t",
    "\n",
    "..",
    ".",
    "evil.example",
    ":",
    "@",
    "?",
    "#",
    "http",
    "a",
  );
  const nasty = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      fc.oneof(
        nasty,
        nasty.map((text) => `/${text}`),
        fc.string(),
        fc.webUrl(),
      ),
      (value) => {
        let location = safeReturnPath(value);
        for (let round = 0; round < 4; round++) {
          expect(whereBrowsersGo(location).origin).toBe(site);
          const decoded = decode(location.split(/[?#]/, 1)[0] ?? "");
          if (decoded === location) break;
          location = decoded;
        }
      },
    ),
    { numRuns: 5000 },
  );
});

test("AUTH-1 property: ordinary paths are kept", () => {
  const segment = fc.stringMatching(/^[a-z0-9-]{1,12}$/);
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
      const path = `/${segments.join("/")}`;
      fc.pre(!/^\/(login|signup|logout|provider)(\/|$)/.test(path));
      expect(safeReturnPath(path)).toBe(path);
    }),
  );
});

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
