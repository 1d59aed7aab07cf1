import { sampleManifest, seedLiveProject } from "@towpath/core/testing";
import { foldRequestLogs, writeRequestLogs } from "@towpath/logs";
import { requestLogRow } from "@towpath/logs/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { openBrowser } from "./browser.ts";
import { type CodeRepositories, codeRepositories } from "./code-repositories.ts";
import { firstVisit } from "./first-visit.ts";
import { sharedSite } from "./site.ts";
import { type Member, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let code: CodeRepositories;
let server: string;
let withCode: string;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  const { id, name } = await seedLiveProject(site.db, owner.organization, {}, { manifest: sampleManifest() });
  const call = { projectId: id, organizationId: owner.organization.id, session: "one", clientName: "claude" };
  const failed = { ...call, isError: true, outcome: "tool_error" as const, errorMessage: "No such city" };
  await writeRequestLogs(site.pool, [requestLogRow(call), requestLogRow(failed)]);
  while ((await foldRequestLogs(site.pool)) > 0);
  code = await codeRepositories(site, owner, { "server.py": "import os\n", "README.md": "# Weather\n" });
  server = `/${owner.organization.slug}/${name}`;
  withCode = `/${owner.organization.slug}/${(await code.deploy("weight")).name}`;
});
afterAll(() => code.close());

const page = (path: string) => () => `${server}${path}`;

type Most = {
  /** Of the scripts as they are sent, kB. */
  readonly sent: number;
  /** With gzip, bytes. The aim is 170,000 for each page (CAP-7). */
  readonly gzip: number;
};

const aim = 170_000;

/**
 * The ten main pages, with the most that each may take. A visit counts all that arrives without a person's act: what is
 * loaded once a pointer or the focus reaches a form, a list or a button doesn't count.
 */
const mainPages: Readonly<Record<string, readonly [path: () => string, most: Most]>> = {
  surface: [page("/surface"), { sent: 144, gzip: aim }],
  sessions: [page("/sessions"), { sent: 144, gzip: aim }],
  code: [() => `${withCode}/code`, { sent: 150, gzip: aim }],
  // These call the server for news, at once or a few seconds later, with 12 kB of script.
  deployments: [page("/deployments"), { sent: 161, gzip: 183_500 }],
  // Its lower sections, too.
  settings: [page("/settings"), { sent: 178, gzip: 203_000 }],
  inspector: [page("/inspector"), { sent: 165, gzip: 188_000 }],
  chat: [page("/chat"), { sent: 155, gzip: 177_000 }],
  servers: [() => `/${owner.organization.slug}/servers`, { sent: 157, gzip: 179_500 }],
  overview: [page(""), { sent: 163, gzip: 185_500 }],
  logs: [page("/logs"), { sent: 163, gzip: 186_000 }],
};

/** By default every fifth: what all pages load is most of it. */
const visited = Object.entries(mainPages).filter((_, at) => isThorough || at % 5 === 4);

test.each(visited)(
  "CAP-7 a first visit takes at most 170 kB of script as it is sent and with gzip, or what it takes so far: %s",
  async (_name, [pathOf, most]) => {
    const fresh = await browser.signedInPage(site.url, owner);
    const { kilobytes, gzipBytes } = await firstVisit(fresh, site.url + pathOf());
    await fresh.context().close();
    // Not an error page, which would load the first chunk at least.
    expect(kilobytes).toBeGreaterThan(130);
    expect(Math.max(kilobytes, most.sent)).toBe(most.sent);
    expect(Math.max(gzipBytes, most.gzip)).toBe(most.gzip);
  },
);
