import { expect, test } from "vitest";
import { mcpUrl, routeLabel } from "./index.ts";

test("GW-1 production and preview URLs, on a domain and on a single host", () => {
  const main = routeLabel("Echo-One", { name: "main", isDefault: true });
  const preview = routeLabel("echo-one", { name: "fix-typo", isDefault: false });
  expect(mcpUrl("https://{name}.example.com", main)).toBe("https://echo-one.example.com/mcp");
  expect(mcpUrl("https://{name}.example.com", preview)).toBe("https://echo-one-fix-typo.example.com/mcp");
  expect(mcpUrl("http://localhost:8080/{name}", preview)).toBe("http://localhost:8080/echo-one-fix-typo/mcp");
});

test("GW-1 labels are valid in DNS and never collide", () => {
  const names = [
    "feature/a",
    "feature-a",
    "feature_a",
    "Feature-A",
    "ünïcode",
    "---",
    "x".repeat(200),
    `${"x".repeat(200)}y`,
  ];
  const labels = names.map((name) => routeLabel("a-project-with-thirty-two-chars-", { name, isDefault: false }));
  for (const label of labels) expect(label).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  expect(new Set(labels).size).toBe(names.length);
});
