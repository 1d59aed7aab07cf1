import type { Page, Response } from "playwright-core";

/** What a page's first visit takes. */
export type FirstVisit = {
  /** Of the scripts as they are sent, including preloaded and later ones; 1000 bytes each. */
  readonly kilobytes: number;
  /** Of the same scripts as they are sent to a client that knows gzip and nothing better, in bytes. */
  readonly gzipBytes: number;
  readonly scripts: number;
};

// Preloads begin and finish within seconds.
const minMs = 4000;
const quietMs = 1500;
const maxMs = 12_000;

/**
 * Opens a page with an empty cache, for 4 s and until nothing has arrived for 1.5 s. `page`: of a context that opened
 * nothing, and one that does nothing by itself.
 */
export async function firstVisit(page: Page, url: string): Promise<FirstVisit> {
  const scripts: Response[] = [];
  let latest = Date.now();
  page.on("response", (response) => {
    if (!/javascript/.test(response.headers()["content-type"] ?? "")) return;
    scripts.push(response);
    latest = Date.now();
  });
  await page.goto(url);
  const begin = Date.now();
  while (Date.now() < Math.min(Math.max(latest + quietMs, begin + minMs), begin + maxMs))
    await page.waitForTimeout(100);
  const sizes = await Promise.all(scripts.map(async (script) => (await script.request().sizes()).responseBodySize));
  const gzipped = await Promise.all(scripts.map((script) => gzipSize(script.url())));
  const sum = (of: readonly number[]) => of.reduce((total, size) => total + size, 0);
  return { kilobytes: sum(sizes) / 1000, gzipBytes: sum(gzipped), scripts: scripts.length };
}

async function gzipSize(url: string): Promise<number> {
  const { headers, body } = await fetch(url, { headers: { "accept-encoding": "gzip" } });
  await body?.cancel();
  const size = Number(headers.get("content-length"));
  if (headers.get("content-encoding") !== "gzip" || !(size > 0)) throw new Error(`${url} isn't sent with gzip.`);
  return size;
}
