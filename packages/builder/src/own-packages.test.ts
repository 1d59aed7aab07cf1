import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { plainServer } from "./testing/plain-server.ts";
import { openWorkshop, type Workshop } from "./testing/try-build.ts";

vi.setConfig({ testTimeout: 120_000 });

// Real sandbox, uv and index.
let workshop: Workshop;
beforeAll(async () => {
  workshop = await openWorkshop();
});
afterAll(() => workshop.close());

const project = `[project]
name = "shop-mcp"
version = "1.0"
dependencies = ["itsdangerous"]
scripts = { shop = "itsdangerous.shop:main" }
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[tool.hatch.build.targets.wheel]
packages = ["src/itsdangerous"]
`;

const server = `from itsdangerous import NAME
from itsdangerous.signer import Signer
import uvicorn
${plainServer}
Signer(NAME)
def main():
    uvicorn.run(app)
`;

// As after `uv pip install .`, which puts the files of both in one directory. An editable installation has only one of
// them.
test("BLD-16 a repository whose package has the same name as a requirement goes live with both", async () => {
  const { result, text } = await workshop.tryBuild(
    {
      "pyproject.toml": project,
      "src/itsdangerous/__init__.py": 'NAME = "shop"\n',
      "src/itsdangerous/shop.py": server,
    },
    { entrypoint: "" },
  );
  if (!result.ok) throw new Error(text);
  expect(result.program).toEqual({ entrypoint: "shop", arguments: [] });
  expect(result.manifest?.tools).toHaveLength(1);
});
