import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isPackage, packageSource } from "./package-source.ts";

const file = join(mkdtempSync(join(tmpdir(), "towpath-source-")), "server.json");
const written = (value: unknown) => {
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
  return file;
};

test("BLD-17 OPS-4 a package is named, or read from its server.json with version, arguments and required variables", () => {
  expect(["pypi:a", "./server.json", "./server", "name"].map(isPackage)).toEqual([true, true, false, false]);
  expect(packageSource("pypi:shop-mcp==1.9.0")).toEqual({ packageName: "shop-mcp", version: "1.9.0", required: [] });
  const shop = {
    registryType: "pypi",
    identifier: "shop-mcp",
    packageArguments: [{ type: "positional", value: "serve" }],
    environmentVariables: [{ name: "SHOP_KEY", isRequired: true }, { name: "SHOP_URL" }],
  };
  expect(packageSource(written({ name: "io.github.acme/shop", packages: [shop] }))).toEqual({
    packageName: "shop-mcp",
    version: null,
    arguments: ["serve"],
    required: ["SHOP_KEY"],
  });
});

test("BLD-17 VAL-1 sources that can't be deployed get an error with the reason", () => {
  expect(() => packageSource("pypi:a==1==2")).toThrow("There are two versions");
  expect(() => packageSource("./absent.json")).toThrow("./absent.json can't be read. Name a directory");
  expect(() => packageSource(written("{"))).toThrow("is not JSON");
  expect(() => packageSource(written({}))).toThrow("is no server.json: name: A server.json has a name");
  const elsewhere = {
    packages: [{ registryType: "npm", identifier: "x" }],
    remotes: [{ type: "sse", url: "https://x.y" }],
  };
  expect(() => packageSource(written({ name: "x", ...elsewhere }))).toThrow(
    "names no Python package of the package index, only: npm, https://x.y.",
  );
});
