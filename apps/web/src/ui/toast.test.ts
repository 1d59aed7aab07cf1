import { TowpathError } from "@towpath/core/errors";
import { expect, test } from "vitest";
import { failureText } from "./toast.ts";

test("UI-1 a failure is its status text, its message, or what to do about it", () => {
  const signedOut = failureText(new TowpathError("unauthenticated", "Not authenticated"));
  expect(signedOut).toMatch(/^You are signed out\. Sign in in another tab, then try again\.$/);
  expect(failureText(new TowpathError("forbidden", "Only admins may."))).toBe("Only admins may.");
  expect(failureText(new Response(null, { status: 502, statusText: "Bad Gateway" }))).toBe("Bad Gateway");
  expect(failureText(new TypeError("Failed to fetch"))).toBe("Towpath can't be reached. Try again.");
  expect(failureText("odd")).toBe("Something went wrong.");
});
