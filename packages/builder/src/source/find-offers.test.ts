import { expect, test } from "vitest";
import { findOffers, projectDirectories } from "./find-offers.ts";

const many = (count: number, text: (at: number) => string) => Array.from({ length: count }, (_, at) => text(at));
const none = new Map<string, string>();

// The form of a new server looks into the repositories of strangers in the process that serves every page. Work that
// grows with the square of what they hold takes minutes here.
test("RUN-1 BLD-16 finding a tree's offers takes linear time", {
  timeout: 120_000,
}, () => {
  const before = process.threadCpuUsage();
  const projects = many(40_000, (at) => (at % 2 === 0 ? `a${at}/pyproject.toml` : `b${at}/main.py`));
  expect(findOffers(new Set([...projects, "server.py", "a0/server.py"]), none)[0]?.file).toBe("server.py");
  const packages = many(40_000, (at) => `p${at}/__main__.py`);
  expect(findOffers(new Set(packages), none)[0]?.program.entrypoint).toBe("p0");
  const scripts = ["[project]", 'name = "shop"', "[project.scripts]", ...many(20_000, (at) => `s${at} = "m${at}:run"`)];
  const texts = new Map([["pyproject.toml", [...scripts, 'shop-mcp = "m7:main"'].join("\n")]]);
  const modules = many(20_000, (at) => `m${at}.py`);
  expect(findOffers(new Set(["pyproject.toml", ...modules]), texts)[0]?.program.entrypoint).toBe("shop-mcp");
  const setup = new Map([["setup.py", '"console_scripts": ['.repeat(50_000)]]);
  expect(findOffers(new Set(["setup.py", "server.py"]), setup)[0]?.file).toBe("server.py");
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1e6, "processor seconds").toBeLessThan(15);
});

test("BLD-16 the console scripts of a setup.py, and files that aren't those of a project below", () => {
  const text = 'setup(entry_points={"console_scripts": ["shop-mcp = shop.cli:main"]}, x=[1])';
  const paths = new Set(["setup.py", "shop/cli.py", "part/pyproject.toml", "part/deep/server.py", "partly/server.py"]);
  const offers = findOffers(paths, new Map([["setup.py", text]]));
  expect(offers.map(({ program }) => program.entrypoint)).toEqual(["shop.cli:main", "partly/server.py"]);
  expect(projectDirectories(paths)).toEqual(["part"]);
});

test("BLD-16 among several console scripts for MCP, the one for the set-up isn't the server", () => {
  const scripts = [
    'shop-mcp-setup = "shop.prepare:main"',
    'shop-mcp = "shop.server:main"',
    'login-server = "shop.a:b"',
  ];
  const text = ["[project]", 'name = "shop-search"', "[project.scripts]", ...scripts].join("\n");
  const offers = findOffers(new Set(["pyproject.toml", "shop/prepare.py"]), new Map([["pyproject.toml", text]]));
  const found = offers.map(({ program }) => program.entrypoint);
  expect(found.slice(0, 2)).toEqual(["shop-mcp", "shop-mcp-setup"]);
});
