import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { classifyError } from "./classify-error.ts";
import { ErrorScreen } from "./error-screen.tsx";

/** The text of the screen for an error, and its links with their targets. */
function screenOf(error: unknown) {
  const html = renderToStaticMarkup(createElement(ErrorScreen, { error }));
  const textsOf = (tag: string) =>
    [...html.matchAll(new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, "gs"))].map(([, text = ""]) =>
      text.replaceAll("&#x27;", "'"),
    );
  const links = [...html.matchAll(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/g)].map(([, href, text]) => [text, href]);
  return { heading: textsOf("h1"), texts: textsOf("p"), causes: textsOf("li"), message: textsOf("pre"), links };
}
const home = ["Return Home", "/"];

test("ERR-1 Access Denied lists possible causes and links home and to the account", () => {
  expect(screenOf(new Error("Forbidden: this needs the role admin."))).toMatchObject({
    heading: ["Access Denied"],
    texts: expect.arrayContaining(["You don't have permission to access this team's resources."]),
    causes: [
      "You are not a member of this team",
      "Your membership has been revoked",
      "The team name in the URL is wrong",
    ],
    message: [],
    links: [home, ["Check Account Settings", "/account"]],
  });
});

test("ERR-2 Page Not Found lists possible causes and links home", () => {
  expect(screenOf(new Response(null, { status: 404 }))).toMatchObject({
    heading: ["Page Not Found"],
    texts: expect.arrayContaining(["The page you're looking for doesn't exist."]),
    causes: ["The URL is mistyped", "The page was moved or deleted", "You don't have access to it"],
    message: [],
    links: [home],
  });
});

test("ERR-3 Something went wrong shows the message as text and links home", () => {
  expect(screenOf(new Error("socket <hang> up"))).toMatchObject({
    heading: ["Something went wrong"],
    texts: expect.arrayContaining(["An unexpected error occurred while loading this page."]),
    causes: [],
    message: ["socket &lt;hang&gt; up"],
    links: [home],
  });
});

test("ERR-1 a 403 or a message with Forbidden is Access Denied", () => {
  expect(classifyError(new Response(null, { status: 403 })).kind).toBe("forbidden");
  expect(classifyError(new Error("Forbidden: this needs the role admin.")).kind).toBe("forbidden");
  expect(classifyError({ httpStatus: 403 }).kind).toBe("forbidden");
});

test("ERR-2 a 404, a message with Not Found or the router's not-found is Page Not Found", () => {
  expect(classifyError(new Response(null, { status: 404 })).kind).toBe("not-found");
  expect(classifyError(new Error("Not Found: there is no such server.")).kind).toBe("not-found");
  expect(classifyError({ isNotFound: true }).kind).toBe("not-found");
});

test("ERR-3 other responses show their status, other errors their message", () => {
  const response = new Response(null, { status: 502, statusText: "Bad Gateway" });
  expect(classifyError(response)).toEqual({ kind: "other", message: "HTTP 502: Bad Gateway" });
  expect(classifyError(new Error("socket hang up"))).toEqual({ kind: "other", message: "socket hang up" });
  expect(classifyError(undefined)).toEqual({ kind: "other", message: "Unknown error" });
});

test("ERR-3 after too many requests the page says when to try again", () => {
  const refusal = (headers: HeadersInit) =>
    classifyError(new Response(null, { status: 429, statusText: "Too Many Requests", headers }));
  expect(refusal({ "retry-after": "30" })).toEqual({
    kind: "other",
    message: "HTTP 429: Too Many Requests",
    remedy: expect.stringContaining("Wait 30 seconds, then reload"),
  });
  expect(refusal({ "retry-after": "1" }).remedy).toContain("Wait 1 second,");
  expect(refusal({}).remedy).toContain("Wait a minute,");
  expect(refusal({ "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }).remedy).toContain("Wait a minute,");
});
