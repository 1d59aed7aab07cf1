import { gzipSync } from "node:zlib";
import type { Browser, Response } from "playwright-core";
import { launchChromium } from "../chromium.ts";
import { withSeededSite } from "./seeded-site.ts";

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
    const gzipped = sum(scripts, "kilobytes");
    within &&= gzipped <= target;
    const verdict = `≤ ${target} ${gzipped <= target ? "met" : "missed"}`;
    print(path, String(scripts.length), gzipped.toFixed(1), sum(scripts, "sent").toFixed(1), verdict);
    if (process.argv.includes("--files"))
      for (const { name, kilobytes, sent } of scripts.toSorted((a, b) => b.kilobytes - a.kilobytes))
        print("", "", kilobytes.toFixed(1), sent.toFixed(1), name);
  }
  await browser.close();
  return within;
}

const measureOwnSite = () =>
  withSeededSite(({ url, mainPages, cookie }) => measure(url, { paths: Object.values(mainPages), cookie }));

const given = process.argv.slice(2).find((argument) => argument.startsWith("http"));
process.exitCode = (await (given ? measure(given) : measureOwnSite())) ? 0 : 1;
