import { rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { shortDirectory } from "@towpath/runtime/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTimeOf } from "../instance/instance.ts";
import { resetPassword } from "./reset-password.ts";

let directory = "";
let server: Server;
let printed = "";
let asked: unknown[] = [];
beforeEach(async () => {
  [directory, printed, asked] = [await shortDirectory(), "", []];
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    printed += String(chunk);
    return true;
  });
  server = createServer(async (request, response) => {
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
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running = { pid: process.pid, startTime: startTimeOf(process.pid), url, serverUrl: `${url}/{name}` };
  await writeFile(`${directory}/running.json`, JSON.stringify(running));
  await writeFile(`${directory}/operator-token`, "tpo_of-this-test\n");
});
afterEach(async () => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await rm(directory, { recursive: true, force: true });
});

const run = (...args: string[]) => resetPassword(["--data-dir", directory, ...args]);

test("AUTH-2 reset-password asks the instance with the operator token and prints its link", async () => {
  expect(await run("ada@example.com")).toBe(0);
  const body = { email: "ada@example.com", removeSecondFactor: false };
  expect(asked).toEqual([["POST", "/api/v1/password-resets", "Bearer tpo_of-this-test", body]]);
  expect(printed).toContain("http://localhost:3000/provider/reset-password?token=t0ken");
  expect(printed).toContain("--remove-two-factor");
  await run("ada@example.com", "--remove-two-factor");
  expect(printed).toContain("Two-factor sign-in is off for this account.");
});

test("AUTH-2 reset-password names one account, and says when there is none", async () => {
  await expect(run()).rejects.toThrow("Usage: towpath reset-password EMAIL");
  await expect(run("a@example.com", "b@example.com")).rejects.toThrow("Usage: towpath reset-password EMAIL");
  await expect(run("nobody@example.com")).rejects.toThrow("There is no account with the address nobody@example.com.");
});
