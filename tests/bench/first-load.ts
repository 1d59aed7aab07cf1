import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, Response } from "playwright-core";
import { openBrowser } from "../e2e/browser.ts";
import { instancePorts, startTowpath } from "../instance/towpath-process.ts";

// Script that a first visitor's browser fetches, gzipped: preloaded modules and those that come after the page
// included. `node tests/bench/first-load.ts [url]`; without a URL it starts an instance. `--files` lists each script.

const target = 170;
const paths = ["/", "/login", "/pricing", "/blog"];

type Script = { readonly name: string; readonly kilobytes: number };

/** Every script of one page, kB (1000 bytes) as gzip at its default level makes them. */
async function scriptsOf(browser: Browser, url: string): Promise<readonly Script[]> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const responses: Response[] = [];
  page.on("response", (response) => {
    if (/javascript/.test(response.headers()["content-type"] ?? "")) responses.push(response);
  });
  await page.goto(url, { waitUntil: "networkidle" });
  const scripts = await Promise.all(
    responses.map(async (response) => ({
      name: new URL(response.url()).pathname.split("/").at(-1) ?? "",
      kilobytes: gzipSync(await response.body()).length / 1000,
    })),
  );
  await context.close();
  return scripts;
}

async function measure(url: string): Promise<boolean> {
  const browser = await openBrowser();
  let within = true;
  process.stdout.write(
    `\nFirst-load script, gzipped\n${"page".padEnd(14)}${"files".padStart(6)}${"kB".padStart(8)}  target\n`,
  );
  for (const path of paths) {
    const scripts = await scriptsOf(browser, `${url}${path}`);
    const sum = scripts.reduce((total, { kilobytes }) => total + kilobytes, 0);
    within &&= sum <= target;
    process.stdout.write(
      `${path.padEnd(14)}${String(scripts.length).padStart(6)}${sum.toFixed(1).padStart(8)}  ≤ ${target} ${sum <= target ? "met" : "missed"}\n`,
    );
    if (process.argv.includes("--files"))
      for (const { name, kilobytes } of scripts.toSorted((a, b) => b.kilobytes - a.kilobytes))
        process.stdout.write(`${"".padEnd(20)}${kilobytes.toFixed(1).padStart(8)}  ${name}\n`);
  }
  await browser.close();
  return within;
}

async function measureOwnInstance(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), "towpath-bench-"));
  const instance = await startTowpath(directory, await instancePorts());
  try {
    return await measure(instance.url);
  } finally {
    await instance.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

const given = process.argv.slice(2).find((argument) => argument.startsWith("http"));
process.exitCode = (await (given ? measure(given) : measureOwnInstance())) ? 0 : 1;
