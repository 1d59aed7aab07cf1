import { readFile, rm, writeFile } from "node:fs/promises";
import { shortDirectory } from "@towpath/runtime/testing";
import { expect, test } from "vitest";
import { openDataDirectory } from "../instance/instance.ts";
import { parseUpOptions } from "./options.ts";
import { resolvesLocalhostNames, serverUrlOf } from "./server-url.ts";

const answering =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

test("GW-1 names below localhost count when the resolver leads all of them here", async () => {
  expect(await resolvesLocalhostNames(answering("127.0.0.1"))).toBe(true);
  expect(await resolvesLocalhostNames(answering("::1", "127.0.0.1"))).toBe(true);
  expect(await resolvesLocalhostNames(answering("::1"))).toBe(false);
  expect(await resolvesLocalhostNames(answering("127.0.0.1", "203.0.113.7"))).toBe(false);
  expect(await resolvesLocalhostNames(() => Promise.reject(new Error("ENOTFOUND")))).toBe(false);
});

test("GW-1 servers are reached by host or path as the instance began, unless the operator says otherwise", async () => {
  const options = parseUpOptions(["--gateway-port", "9001"], {});
  expect(serverUrlOf(options, "host")).toBe("http://{name}.localhost:9001");
  expect(serverUrlOf(options, "path")).toBe("http://localhost:9001/{name}");
  const set = parseUpOptions([], { TOWPATH_SERVER_URL: "https://{name}.mcp.example.com" });
  expect(serverUrlOf(set, "host")).toBe("https://{name}.mcp.example.com");
});

test("GW-1 a new instance keeps how it began; one from before that was a choice is reached by path", async () => {
  const directory = await shortDirectory();
  expect((await openDataDirectory(directory, "host")).serversBy).toBe("host");
  expect((await openDataDirectory(directory, "path")).serversBy).toBe("host");
  const { serversBy, ...earlier } = JSON.parse(await readFile(`${directory}/instance.json`, "utf8"));
  expect(serversBy).toBe("host");
  await writeFile(`${directory}/instance.json`, JSON.stringify(earlier));
  expect((await openDataDirectory(directory, "host")).serversBy).toBe("path");
  await rm(directory, { recursive: true });
});
