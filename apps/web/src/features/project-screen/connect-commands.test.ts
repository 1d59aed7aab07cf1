import { expect, test } from "vitest";
import { connectCommands } from "./connect-commands.ts";

const url = "http://localhost:8080/brave-teal-otter/mcp";

test("PRJ-12 every command for a towpath-cloud server carries an API key", () => {
  for (const { code } of connectCommands({ name: "brave-teal-otter", url, authMode: "towpath-cloud" })) {
    expect(code).toContain(url);
    expect(code).toContain("YOUR_API_KEY");
  }
});

test("PRJ-12 commands for public and passthrough servers carry no key", () => {
  for (const authMode of ["towpath-public", "passthrough"] as const) {
    for (const { code } of connectCommands({ name: "brave-teal-otter", url, authMode })) {
      expect(code).toContain(url);
      expect(code).not.toMatch(/YOUR_API_KEY|Authorization/);
    }
  }
});

test("KEY-3 a new key stands in every command in place of the placeholder, and in none of a server that needs none", () => {
  const commandsFor = (authMode: "towpath-cloud" | "towpath-public") =>
    connectCommands({ name: "brave-teal-otter", url, authMode }, "tp_new");
  for (const { code } of commandsFor("towpath-cloud")) {
    expect(code).toContain("tp_new");
    expect(code).not.toContain("YOUR_API_KEY");
  }
  for (const { code } of commandsFor("towpath-public")) expect(code).not.toContain("tp_new");
});

test("PRJ-15 the settings for Cursor and VS Code are valid JSON with the server's name", () => {
  const commands = connectCommands({ name: "brave-teal-otter", url, authMode: "towpath-cloud" });
  const parse = (id: string) => JSON.parse(commands.find((command) => command.id === id)?.code ?? "");
  const headers = { Authorization: "Bearer YOUR_API_KEY" };
  expect(parse("cursor")).toEqual({ mcpServers: { "brave-teal-otter": { url, headers } } });
  expect(parse("vscode")).toEqual({ servers: { "brave-teal-otter": { type: "http", url, headers } } });
});
