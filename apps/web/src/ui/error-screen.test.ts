import { expect, test } from "vitest";
import { classifyError } from "./error-screen.tsx";

test("ERR-1 a 403 or a message with Forbidden is Access Denied", () => {
  expect(classifyError(new Response(null, { status: 403 })).kind).toBe("forbidden");
  expect(classifyError(new Error("Forbidden: this needs the role admin.")).kind).toBe("forbidden");
  expect(classifyError({ httpStatus: 403 }).kind).toBe("forbidden");
});

test("ERR-2 a 404, a message with Not Found or the router's not-found is Page Not Found", () => {
  expect(classifyError(new Response(null, { status: 404 })).kind).toBe("not-found");
  expect(classifyError(new Error("Not Found: there is no such project.")).kind).toBe("not-found");
  expect(classifyError({ isNotFound: true }).kind).toBe("not-found");
});

test("ERR-3 other responses show their status, other errors their message", () => {
  const response = new Response(null, { status: 502, statusText: "Bad Gateway" });
  expect(classifyError(response)).toEqual({ kind: "other", message: "HTTP 502: Bad Gateway" });
  expect(classifyError(new Error("socket hang up"))).toEqual({ kind: "other", message: "socket hang up" });
  expect(classifyError(undefined)).toEqual({ kind: "other", message: "Unknown error" });
});

test("ERR-3 whoever made too many requests is told when to try again", () => {
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
