import { expect, test } from "vitest";
import { argumentsProblem } from "../../projects/project/arguments.schema.ts";
import { registryEntryOf, serverJsonSchema } from "./server-json.schema.ts";

const entryOf = (server: object) => registryEntryOf(serverJsonSchema.parse({ name: "io.github.acme/shop", ...server }));
const pypi = { registryType: "pypi", identifier: "Shop_MCP", version: "1.4.2" };

test("BLD-17 a server.json's Python package comes with version, arguments and the variables that its author names", () => {
  const entry = entryOf({
    title: "Shop",
    description: "Orders and stock",
    version: "1.4.2",
    packages: [
      {
        ...pypi,
        packageArguments: [
          { type: "positional", value: "serve" },
          { type: "named", name: "--db-path", isRequired: true, description: "The shop's database" },
          { type: "named", name: "--region", valueHint: "region", isRequired: true },
          { type: "named", name: "--limit", default: "20" },
          { type: "named", name: "--verbose" },
          { type: "named", name: "--shop", value: "{shop}", isRequired: true },
        ],
        environmentVariables: [
          { name: "SHOP_KEY", description: "From the shop's settings", isRequired: true, isSecret: true },
          { name: "SHOP_URL" },
        ],
      },
    ],
  });
  expect(entry).toMatchObject({ title: "Shop", version: "1.4.2", urls: [], otherKinds: [] });
  const [found] = entry.packages;
  expect(found).toMatchObject({ name: "shop-mcp", version: "1.4.2" });
  const argv = found?.arguments ?? [];
  expect(argv.join(" ")).toBe(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: how arguments refer to variables
    "serve --db-path ${DB_PATH} --region ${REGION} --limit 20 --shop ${SHOP}",
  );
  expect(argumentsProblem(argv)).toBeNull();
  expect(found?.variables).toEqual([
    { name: "SHOP_KEY", description: "From the shop's settings", isRequired: true },
    { name: "SHOP_URL", description: "", isRequired: false },
    { name: "DB_PATH", description: "The shop's database", isRequired: true },
    { name: "REGION", description: "", isRequired: true },
    { name: "SHOP", description: "", isRequired: true },
  ]);
});

test("BLD-17 what doesn't run here is named: other kinds, other indexes; addresses to fill in are left out", () => {
  const entry = entryOf({
    packages: [
      { registryType: "npm", identifier: "@acme/shop" },
      { registryType: "oci", identifier: "docker.io/acme/shop" },
      { ...pypi, registryBaseUrl: "https://test.pypi.org" },
      { ...pypi, registryBaseUrl: "https://pypi.org" },
    ],
    remotes: [
      { type: "streamable-http", url: "https://shop.example/mcp" },
      { type: "sse", url: "https://{tenant}.shop.example/sse" },
    ],
  });
  expect(entry.packages.map(({ name }) => name)).toEqual(["shop-mcp"]);
  expect(entry.otherKinds).toEqual(["npm", "oci", "pypi of https://test.pypi.org"]);
  expect(entry.urls).toEqual(["https://shop.example/mcp"]);
  expect(entry.title).toBe("io.github.acme/shop");
});

test("BLD-17 a text that is no server.json says what is missing", () => {
  const problem = (value: unknown) => serverJsonSchema.safeParse(value).error?.issues[0]?.message;
  expect(problem([])).toBe("A server.json is a JSON object");
  expect(problem({})).toBe("A server.json has a name, such as io.github.owner/server");
});
