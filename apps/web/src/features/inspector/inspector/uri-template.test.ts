import { expect, test } from "vitest";
import { expandTemplate, templateVariables } from "./uri-template.ts";

test("PRJ-4 the variables of a template, in order and once", () => {
  expect(templateVariables("weather://{city}/{city}/days{/rest*}{?units,lang}")).toEqual([
    { name: "city", optional: false, wildcard: false },
    { name: "rest", optional: false, wildcard: true },
    { name: "units", optional: true, wildcard: false },
    { name: "lang", optional: true, wildcard: false },
  ]);
  expect(templateVariables("plain://text")).toEqual([]);
});

test("PRJ-4 expansion follows the examples of RFC 6570", () => {
  const values = { var: "value", hello: "Hello World!", path: "/foo/bar", x: "1024", y: "768", empty: "" };
  const expected: Record<string, string> = {
    "{var}": "value",
    "{hello}": "Hello%20World%21",
    "{+path}/here": "/foo/bar/here",
    "X{#hello}": "X#Hello%20World!",
    "map?{x,y}": "map?1024,768",
    "X{.var}": "X.value",
    "{/var,x}/here": "/value/1024/here",
    "{;x,y,empty}": ";x=1024;y=768;empty",
    "{?x,y}": "?x=1024&y=768",
    "?fixed=yes{&x}": "?fixed=yes&x=1024",
    "{var:3}": "val",
    "{missing}": "",
  };
  for (const [template, uri] of Object.entries(expected)) expect(expandTemplate(template, values)).toBe(uri);
});

test("PRJ-4 values are escaped, wildcards keep slashes", () => {
  expect(expandTemplate("file://{name}", { name: "../a?b#c" })).toBe("file://..%2Fa%3Fb%23c");
  expect(expandTemplate("file:///{path*}", { path: "a/b c" })).toBe("file:///a/b%20c");
  expect(expandTemplate("x://{toString}", {})).toBe("x://");
});
