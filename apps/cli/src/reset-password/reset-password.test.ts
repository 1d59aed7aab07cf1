import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { collectPrinted, type Printed } from "../testing/printed.ts";
import { startStandIn } from "../testing/stand-in.ts";
import { resetPassword } from "./reset-password.ts";

let directory = "";
let close = async () => {};
let printed: Printed;
let asked: unknown[] = [];
beforeEach(async () => {
  asked = [];
  printed = collectPrinted();
  ({ directory, close } = await startStandIn(async (request, response) => {
    const body = JSON.parse(await text(request));
    asked.push([request.method, request.url, request.headers.authorization, body]);
    if (body.email === "nobody@example.com") {
      const error = { code: "not_found", message: "There is no account with the address nobody@example.com." };
      return void response.writeHead(404).end(JSON.stringify({ error }));
    }
    const link = {
      url: "http://localhost:3000/provider/reset-password?token=t0ken",
      expiresAt: "2026-11-22T14:00:00Z",
    };
    response.end(JSON.stringify({ ...link, removedSecondFactor: body.removeSecondFactor }));
  }));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await close();
});

const run = (...args: string[]) => resetPassword(["--data-dir", directory, ...args]);

test("AUTH-2 reset-password asks the instance with the operator token and prints its link", async () => {
  expect(await run("ada@example.com")).toBe(0);
  const body = { email: "ada@example.com", removeSecondFactor: false };
  expect(asked).toEqual([["POST", "/api/v1/password-resets", "Bearer tpo_of-this-test", body]]);
  expect(printed.text).toContain("http://localhost:3000/provider/reset-password?token=t0ken");
  expect(printed.text).toContain("--remove-two-factor");
  await run("ada@example.com", "--remove-two-factor");
  expect(printed.text).toContain("Two-factor sign-in is off for this account.");
});

test("AUTH-2 reset-password names one account, and says when there is none", async () => {
  await expect(run()).rejects.toThrow("Usage: towpath reset-password EMAIL");
  await expect(run("a@example.com", "b@example.com")).rejects.toThrow("Usage: towpath reset-password EMAIL");
  await expect(run("nobody@example.com")).rejects.toThrow("There is no account with the address nobody@example.com.");
});
