import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { withSeededSite } from "./seeded-site.ts";

// Lighthouse's scores of the public pages and of a used server's main pages, as its mobile preset simulates a phone:
// `./towpath test bench lighthouse [page…] [--runs=3] [--findings]`. npx fetches Lighthouse. Medians, because other work on
// the machine slows single runs. `--findings` lists the audits that fail.
//
// Measured on two quiet cores, one run each: landing 100, sign-in 99, servers 98, overview 92, surface 100, sessions 99,
// settings 90 (its largest paint after 3.1 s), chat 97, inspector 97, code 96; medians of three: logs 92, deployments 91.

const version = "13.5.0";
/** Performance: of a page that people see first, and of any other. */
const targets = { "sign-in": 95, other: 90 };
const categories = ["performance", "accessibility", "best-practices"] as const;

type Audit = { readonly score: number | null; readonly title: string; readonly numericValue?: number };
type Report = {
  readonly categories: Readonly<
    Record<
      (typeof categories)[number],
      { readonly score: number; readonly auditRefs: readonly { readonly id: string; readonly weight: number }[] }
    >
  >;
  readonly audits: Readonly<Record<string, Audit>>;
  readonly runtimeError?: { readonly message: string };
};

async function runOnce(url: string, cookie: string | null): Promise<Report> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-lighthouse-"));
  const file = join(directory, "report.json");
  try {
    await promisify(execFile)(
      "npx",
      [
        "--yes",
        `lighthouse@${version}`,
        url,
        "--quiet",
        `--only-categories=${categories.join()}`,
        "--chrome-flags=--no-sandbox --disable-gpu",
        "--output=json",
        `--output-path=${file}`,
        ...(cookie === null ? [] : [`--extra-headers=${JSON.stringify({ cookie })}`]),
      ],
      { env: { ...process.env, CHROME_PATH: "/usr/bin/chromium-headless-shell" }, maxBuffer: 64 * 1024 * 1024 },
    );
    const report: Report = JSON.parse(await readFile(file, "utf8"));
    if (report.runtimeError) throw new Error(`${url}: ${report.runtimeError.message}`);
    return report;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const columns = ["performance", "accessibility", "best-practices", "FCP s", "LCP s", "TBT ms", "CLS", "target"];
const print = (page: string, cells: readonly string[]) =>
  process.stdout.write(`${page.padEnd(14)}${cells.map((cell) => cell.padStart(15)).join("")}\n`);

/** Measures a page. Returns whether it reaches its target. */
async function measure(page: string, url: string, cookie: string | null, runs: number): Promise<boolean> {
  const reports: Report[] = [];
  for (let run = 0; run < runs; run++) reports.push(await runOnce(url, cookie));
  const of = (id: string) => median(reports.map(({ audits }) => audits[id]?.numericValue ?? 0));
  const scores = categories.map((category) =>
    Math.round(100 * median(reports.map((report) => report.categories[category].score))),
  );
  const target = page === "sign-in" ? targets["sign-in"] : targets.other;
  const isMet = (scores[0] ?? 0) >= target;
  print(page, [
    ...scores.map(String),
    (of("first-contentful-paint") / 1000).toFixed(1),
    (of("largest-contentful-paint") / 1000).toFixed(1),
    of("total-blocking-time").toFixed(0),
    of("cumulative-layout-shift").toFixed(3),
    `≥ ${target} ${isMet ? "met" : "missed"}`,
  ]);
  if (process.argv.includes("--findings")) for (const finding of findingsOf(reports)) print("", [finding]);
  return isMet;
}

/** Audits of any run that lower a score. */
function findingsOf(reports: readonly Report[]): readonly string[] {
  const found = reports.flatMap((report) =>
    categories.flatMap((category) =>
      report.categories[category].auditRefs.flatMap(({ id, weight }) => {
        const audit = report.audits[id];
        return weight > 0 && audit && audit.score !== null && audit.score < 0.9 ? [`${id}: ${audit.title}`] : [];
      }),
    ),
  );
  return [...new Set(found)];
}

const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const runs = Number(process.argv.find((argument) => argument.startsWith("--runs="))?.slice("--runs=".length) ?? 3);

const isMet = await withSeededSite(async ({ url, mainPages, cookie }) => {
  const pages: readonly (readonly [page: string, path: string, cookie: string | null])[] = [
    ["landing", "/", null],
    ["sign-in", "/login", null],
    ...Object.entries(mainPages).map(([page, path]) => [page, path, `${cookie.name}=${cookie.value}`] as const),
  ];
  print("page", columns);
  let all = true;
  for (const [page, path, session] of pages)
    if (chosen.length === 0 || chosen.includes(page)) all = (await measure(page, url + path, session, runs)) && all;
  return all;
});
process.exitCode = isMet ? 0 : 1;
