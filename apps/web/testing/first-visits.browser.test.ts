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

/**
 * The ten main pages, with the most that each may take, in kB. A visit counts all that arrives without a person's act:
 * what is loaded once a pointer or the focus reaches a form, a list or a button doesn't count.
 */
const mainPages: Readonly<Record<string, readonly [path: () => string, most: number]>> = {
  servers: [() => `/${owner.organization.slug}/servers`, 170],
  overview: [page(""), 170],
  surface: [page("/surface"), 170],
  sessions: [page("/sessions"), 170],
  deployments: [page("/deployments"), 170],
  logs: [page("/logs"), 173],
  chat: [page("/chat"), 170],
  code: [() => `${withCode}/code`, 170],
  // Not below 170 yet: many forms, and all of what a call needs.
  settings: [page("/settings"), 181],
  inspector: [page("/inspector"), 175],
};

/** By default every second: what all pages load is most of it. */
const visited = Object.entries(mainPages).filter((_, at) => isThorough || at % 2 === 1);

test.each(visited)(
  "CAP-7 a first visit takes at most 170 kB of script as it is sent, or what it takes so far: %s",
  async (_name, [pathOf, most]) => {
    const fresh = await browser.signedInPage(site.url, owner);
    const { kilobytes } = await firstVisit(fresh, site.url + pathOf());
    await fresh.context().close();
    // Not an error page, which would load the first chunk at least.
    expect(kilobytes).toBeGreaterThan(140);
    expect(Math.max(kilobytes, most)).toBe(most);
  },
);
