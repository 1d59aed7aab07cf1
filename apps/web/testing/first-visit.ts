import type { Page, Response } from "playwright-core";

/** What a page's first visit takes. */
export type FirstVisit = {
  /** Of the scripts as they are sent, including preloaded and later ones; 1000 bytes each. */
  readonly kilobytes: number;
  readonly scripts: number;
};

// Preloads begin and finish within seconds.
const minMs = 4000;
const quietMs = 1500;
const maxMs = 12_000;

/** Opens a page with an empty cache, for 4 s and until nothing has arrived for 1.5 s. `page`: of a context that opened nothing. */
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
  return { kilobytes: sizes.reduce((sum, size) => sum + size, 0) / 1000, scripts: scripts.length };
}
