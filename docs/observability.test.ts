import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { documentedMetrics, metricsIn } from "./metrics.ts";

const deploy = join(import.meta.dirname, "../deploy");
const dashboard = readFileSync(join(deploy, "grafana/towpath.json"), "utf8");
const rules = readFileSync(join(deploy, "prometheus/alerts.yml"), "utf8");
const promtool = (...args: string[]) => promisify(execFile)("promtool", args, { cwd: join(deploy, "prometheus") });
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

test("OPS-9 every metric of the dashboard and of the alert rules is documented", () => {
  const headings = ["Every process", "web", "gateway", "worker", "runner"];
  const documented = headings.flatMap((heading) => documentedMetrics(heading).map(({ name }) => name));
  expect(documented.length).toBeGreaterThan(80);
  expect(new Set(documented).size).toBe(documented.length);
  // Prometheus sets these two, and would rename ours.
  const labels = headings.flatMap((heading) => documentedMetrics(heading).flatMap((metric) => metric.labels));
  expect(labels.filter((label) => label === "job" || label === "instance")).toEqual([]);
  const expressions = (text: string) => [...text.matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g)].map(([, expr]) => expr);
  for (const queries of [expressions(dashboard).join("\n"), rules]) {
    const named = metricsIn(queries);
    expect(named.size).toBeGreaterThan(15);
    expect([...named].filter((name) => !documented.includes(name))).toEqual([]);
  }
});

test("OPS-9 the dashboard has panels that don't overlap, each with a query", () => {
  type Panel = { title: string; type: string; gridPos: { x: number; y: number; w: number; h: number }; targets?: [] };
  const { panels } = JSON.parse(dashboard) as { panels: Panel[] };
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.filter(({ type, targets = [] }) => type !== "row" && targets.length === 0)).toEqual([]);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
});

test.skipIf(!hasPromtool)(
  "OPS-9 promtool accepts the alert rules, and five of them fire and stay silent as they should",
  async () => {
    expect((await promtool("check", "rules", "--lint=all", "--lint-fatal", "alerts.yml")).stdout).toContain("SUCCESS");
    expect((await promtool("test", "rules", "alerts.test.yml")).stdout).toContain("SUCCESS");
  },
);
