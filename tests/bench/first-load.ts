import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { newId } from "@towpath/core/ids";
import { seedLiveProject } from "@towpath/core/testing";
import { migrateDatabase, openDatabase } from "@towpath/db";
import { startEmbeddedPostgres } from "@towpath/db/embedded";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import type { Browser, Response } from "playwright-core";
import { seededMember } from "../../apps/web/testing/visitor.ts";
import { startWeb } from "../../apps/web/testing/web-process.ts";
import { launchChromium } from "../chromium.ts";

// Size of the scripts that a browser with an empty cache fetches, as sent and with gzip, including preloaded and later
// modules. `./towpath test bench first-load [url]`; without a URL it starts a site, with a used server whose main pages
// are measured, too. `--files` lists each script.

const target = 170;
const paths = ["/", "/login", "/pricing", "/blog"];

type Cookie = { readonly name: string; readonly value: string };
type SignedIn = { readonly paths: readonly string[]; readonly cookie: Cookie };
type Script = { readonly name: string; readonly kilobytes: number; readonly sent: number };

/** Scripts of a page, in kB (1000 bytes) with gzip's default level, and as received by the browser. */
async function scriptsOf(browser: Browser, url: string, cookie?: Cookie): Promise<readonly Script[]> {
  const context = await browser.newContext();
  if (cookie) await context.addCookies([{ ...cookie, url }]);
  const page = await context.newPage();
  const responses: Response[] = [];
  page.on("response", (response) => {
    if (/javascript/.test(response.headers()["content-type"] ?? "")) responses.push(response);
  });
  // The page of a server keeps a stream of its log open.
  await page.goto(url, { waitUntil: "load" });
  await page.waitForTimeout(5000);
  const scripts = await Promise.all(
    responses.map(async (response) => ({
      name: new URL(response.url()).pathname.split("/").at(-1) ?? "",
      kilobytes: gzipSync(await response.body()).length / 1000,
      sent: (await response.request().sizes()).responseBodySize / 1000,
    })),
  );
  await context.close();
  return scripts;
}

const sum = (scripts: readonly Script[], of: "kilobytes" | "sent") =>
  scripts.reduce((total, script) => total + script[of], 0);

async function measure(url: string, signedIn?: SignedIn): Promise<boolean> {
  const browser = await launchChromium();
  let within = true;
  const print = (page: string, files: string, gzipped: string, sent: string, verdict: string) =>
    process.stdout.write(
      `${page.padEnd(28)}${files.padStart(6)}${gzipped.padStart(8)}${sent.padStart(8)}  ${verdict}\n`,
    );
  process.stdout.write("\nFirst-load script\n");
  print("page", "files", "gzip kB", "sent kB", "target");
  const pages = [
    ...paths.map((path) => ({ path, cookie: undefined })),
    ...(signedIn?.paths ?? []).map((path) => ({ path, cookie: signedIn?.cookie })),
  ];
  for (const { path, cookie } of pages) {
    const scripts = await scriptsOf(browser, `${url}${path}`, cookie);
    const total = sum(scripts, "sent");
    within &&= total <= target;
    const verdict = `≤ ${target} ${total <= target ? "met" : "missed"}`;
    print(path, String(scripts.length), sum(scripts, "kilobytes").toFixed(1), total.toFixed(1), verdict);
    if (process.argv.includes("--files"))
      for (const { name, kilobytes, sent } of scripts.toSorted((a, b) => b.kilobytes - a.kilobytes))
        print("", "", kilobytes.toFixed(1), sent.toFixed(1), name);
  }
  await browser.close();
  return within;
}

async function measureOwnSite(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
  const postgres = await startEmbeddedPostgres({
    dataDirectory: join(directory, "pg"),
    socketDirectory: join(directory, "s"),
    durable: false,
  });
  await migrateDatabase(postgres.url);
  const { db, pool, close } = openDatabase(postgres.url);
  const web = await startWeb({ databaseUrl: postgres.url });
  try {
    const { visitor, organization } = await seededMember(web.url, db);
    const cookie = visitor.sessionCookie();
    if (!cookie) throw new Error("nobody is signed in");
    const project = await seedLiveProject(db, organization, { name: "weather" });
    const calls = Array.from({ length: 40 }, (_, at) =>
      requestLogRow({
        projectId: project.id,
        id: newId(),
        time: Date.now() - at * 1_800_000,
        target: `tool_${at % 4}`,
        ...(at % 10 === 0 && { isError: true, outcome: "tool_error", errorMessage: "No such station" }),
      }),
    );
    await writeRequestLogs(pool, calls);
    while ((await foldRequestLogs(pool)) > 0);
    const home = `/${organization.slug}/weather`;
    const own = ["", "/inspector", "/chat", "/surface", "/logs", "/sessions", "/deployments", "/settings"];
    return await measure(web.url, {
      paths: [`/${organization.slug}/servers`, ...own.map((each) => home + each)],
      cookie,
    });
  } finally {
    await web.stop();
    await close();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
    await rm(web.dataDirectory, { recursive: true, force: true });
  }
}

const given = process.argv.slice(2).find((argument) => argument.startsWith("http"));
process.exitCode = (await (given ? measure(given) : measureOwnSite())) ? 0 : 1;
