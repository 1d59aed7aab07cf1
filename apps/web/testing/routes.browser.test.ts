import { member } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { newPage, openBrowser, overflowOf, showIn, signIn, untilHydrated, violationsOf } from "./browser.ts";
import { keyboardProblems, popupProblems } from "./keyboard.ts";
import { type PageValues, pageRoutes, pathWith, seedPages } from "./page-routes.ts";
import { sharedSite } from "./site.ts";
import { type Member, newVisitor, seededMember, type Visitor } from "./visitor.ts";

// Every page, for every kind of viewer: the server's answer, then the page in a browser. `./towpath test thorough`
// opens each in a browser and checks both themes with axe; otherwise only those with the most kinds of controls are
// opened, and other files check theirs.

/** A walk over sixty pages, on a machine that may be busy. */
const walkTimeout = { timeout: 300_000 };
const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let viewer: Member;
let stranger: Member;
let routes: readonly string[];
let values: PageValues;

beforeAll(async () => {
  routes = await pageRoutes();
  owner = await seededMember(site.url, site.db);
  viewer = await seededMember(site.url, site.db);
  stranger = await seededMember(site.url, site.db);
  const { id: organizationId } = owner.organization;
  await site.db.update(member).set({ organizationId, role: "viewer" }).where(eq(member.userId, viewer.userId));
  values = await seedPages(site, owner);
});

const pathOf = (pattern: string) => pathWith(values, pattern);

/** Patterns that aren't pages for signed-in people. `:org`: the project's organization. */
const toOwners: Readonly<Record<string, string>> = {
  "/": "→ /:org",
  "/login": "→ /",
  "/signup": "→ /",
  "/$orgSlug": "→ /:org/servers",
  "/$orgSlug/settings": "→ /:org/settings/profile",
  "/$orgSlug/welcome/connect-github": "→ /new/github-install-success",
  "/$orgSlug/welcome/server-deploy": "→ /:org/welcome/choose-repo",
  "/$orgSlug/$projectName/server-logs": "→ /:org/:project/server-logs/:build",
  "/$orgSlug/$projectName/tools": "→ /:org/:project/surface?kind=tool",
  "/$orgSlug/$projectName/resources": "→ /:org/:project/surface?kind=resource",
  "/$orgSlug/$projectName/resource-templates": "→ /:org/:project/surface?kind=template",
  "/$orgSlug/$projectName/prompts": "→ /:org/:project/surface?kind=prompt",
  "/my-values/$projectId": "→ /:org/settings/my-values#:server",
  "/new": "→ /new/github-install",
  "/new/github-install": "→ /:org/welcome/connect-github?success=false",
  "/new/select-repo": "→ /:org/welcome/choose-repo",
  "/new/import-project": "→ /:org/welcome/server-deploy?repoName=",
  // Without a token, and without a request of an app.
  "/invitations/$invitationId": "missing",
  "/oauth/consent": "missing",
  // This site has no GitHub App.
  "/$orgSlug/$projectName/code": "501 Code",
  "/$orgSlug/welcome/choose-repo": "501 Choose a repository",
};
const refusedToViewers: readonly string[] = [
  "/$orgSlug/$projectName/code",
  "/$orgSlug/$projectName/sign-ins",
  "/$orgSlug/portals/new",
  "/$orgSlug/servers/external",
  "/$orgSlug/servers/new",
  "/$orgSlug/servers/package",
  "/$orgSlug/settings/alerts",
  "/$orgSlug/settings/audit-log",
  "/$orgSlug/settings/github",
  "/$orgSlug/settings/instance",
  "/$orgSlug/welcome/choose-repo",
  "/$orgSlug/welcome/server-setup",
];
const isOpen = (pattern: string) =>
  /^\/($|app\/|blog|docs|pricing|status\/|provider\/|oauth\/authorize$|new\/github-install-success$)/.test(pattern);
const toVisitors: Readonly<Record<string, string>> = {
  "/login": "→ /provider/sign-in",
  "/signup": "→ /provider/sign-up",
  "/invitations/$invitationId": "missing",
};
/** Search parameters that a page adds before it asks visitors to sign in. */
const completed: Readonly<Record<string, string>> = {
  "/$orgSlug/$projectName/inspector": "?tab=tools",
  "/account/email": "?token=",
  "/new/import-project": "?repoName=",
  "/oauth/choose-server": "?request=",
  "/oauth/consent": "?request=",
};
const completedPath = (pattern: string) => `${pathOf(pattern)}${completed[pattern] ?? ""}`;

/** `page`, `missing`, `refused`, `→ address`, or the status with the heading. */
async function outcomeOf(visitor: Visitor, path: string): Promise<string> {
  let [at, response] = [path, await visitor.get(path)];
  // A page that completes its own search parameters.
  for (let turn = 0; turn < 3; turn++) {
    const next = response.headers.get("location");
    if (next === null || new URL(next, site.url).pathname !== new URL(at, site.url).pathname) break;
    [at, response] = [next, await visitor.get(next)];
  }
  const html = await response.text();
  const location = response.headers.get("location");
  if (location !== null) return `→ ${named(location)}`;
  const headings = [...html.matchAll(/<h1[^>]*>(.*?)<\/h1>/gs)].map(([, text = ""]) => text.replaceAll(/<[^>]+>/g, ""));
  if (headings.length !== 1) return `${response.status} with the headings ${JSON.stringify(headings)}`;
  if (response.status === 403) return "refused";
  if (response.status === 404) return "missing";
  return response.status === 200 ? "page" : `${response.status} ${headings[0]}`;
}

const named = (text: string) =>
  text
    .replaceAll(owner.organization.slug, ":org")
    .replaceAll(stranger.organization.slug, ":other")
    .replaceAll(values.projectName ?? "", ":project")
    .replaceAll(values.projectId ?? "", ":server")
    .replaceAll(values.buildId ?? "", ":build");

/** The outcome of each page for a visitor, in the order of `routes`. */
async function outcomes(visitor: Visitor, expected: (pattern: string) => string, patterns = routes): Promise<void> {
  const rows: [string, string][] = [];
  for (const pattern of patterns) rows.push([pattern, await outcomeOf(visitor, pathOf(pattern))]);
  expect(rows).toEqual(patterns.map((pattern) => [pattern, expected(pattern)]));
}

test("AUTH-7 PUB-4 signed out, every page is public or leads to sign-in, which comes back to it", () =>
  outcomes(newVisitor(site.url), (pattern) =>
    isOpen(pattern)
      ? "page"
      : (toVisitors[pattern] ?? named(`→ /login?returnTo=${encodeURIComponent(completedPath(pattern))}`)),
  ));

test("ORG-2 PRJ-1 an owner gets every page, each with one heading, or is led on", () =>
  outcomes(owner.visitor, (pattern) => toOwners[pattern] ?? "page"));

test("ERR-1 ORG-6 a viewer gets the pages that the role allows; all others are refused with status 403", () =>
  outcomes(
    viewer.visitor,
    (pattern) => (refusedToViewers.includes(pattern) ? "refused" : (toOwners[pattern] ?? "page")),
    // By default a third of what they get: owners get the same.
    routes.filter((pattern, at) => isThorough || refusedToViewers.includes(pattern) || at % 3 === 0),
  ));

test.runIf(isThorough)(
  "AUTH-8 PRJ-1 to somebody of another organization its pages are their own, and its projects are missing",
  () =>
    outcomes(stranger.visitor, (pattern) => {
      if (pattern.startsWith("/$orgSlug")) return named(`→ ${completedPath(pattern)}`).replace(":org", ":other");
      if (pattern === "/") return "→ /:other/welcome/server-setup";
      return (toOwners[pattern] ?? "page").replace(":org", ":other");
    }),
);

test.runIf(isThorough)("PRJ-1 a project of another organization is missing on every page of a project", async () => {
  const foreign = routes.filter((pattern) => pattern.startsWith("/$orgSlug/$projectName"));
  const seen = new Set<string>();
  for (const pattern of foreign) {
    const path = pathOf(pattern).replace(owner.organization.slug, stranger.organization.slug);
    seen.add(await outcomeOf(stranger.visitor, path));
  }
  expect([foreign.length > 15, [...seen]]).toEqual([true, ["missing"]]);
});

type Theme = "light" | "dark";
const widths = [360, 768, 1440] as const;

/** Pages opened in each run: those with the most kinds of controls. */
const openedAlways = /\/(inspector|members|docs\/clients|sign-up)$/;
/** Kinds of buttons whose popups have been opened. */
const tried = new Set<string>();

/** Problems of a page, in both themes if it is checked fully. */
async function problemsOf(page: Page, path: string, theme: Theme): Promise<unknown[]> {
  const problems: unknown[] = [];
  const complain = (text: string) => void problems.push([path, text]);
  const onConsole = (message: { type(): string; text(): string }) => {
    if (["error", "warning"].includes(message.type())) complain(message.text());
  };
  const onError = ({ message }: Error) => complain(message);
  page.on("console", onConsole).on("pageerror", onError);
  await page.goto(site.url + path);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  if (await page.evaluate(() => document.querySelector("script[type=module]") !== null)) await untilHydrated(page);
  for (const colorScheme of isThorough ? (["light", "dark"] as const) : [theme]) {
    await showIn(page, colorScheme);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      // Charts adapt to the new width a moment later.
      const fits = expect.poll(() => overflowOf(page)).toBeLessThanOrEqual(0);
      await fits.catch(() => complain(`wider than ${width} px`));
      if (isThorough && width === (colorScheme === "light" ? 360 : 1440))
        for (const violation of await violationsOf(page)) problems.push([path, colorScheme, width, violation]);
    }
  }
  for (const problem of [...(await keyboardProblems(page)), ...(await popupProblems(page, tried))]) complain(problem);
  page.off("console", onConsole).off("pageerror", onError);
  return problems;
}

/** Looks at the pages, two at a time. */
async function walk(who: Member | null, patterns: readonly string[]): Promise<void> {
  const opened = patterns.filter((pattern) => isThorough || openedAlways.test(pathOf(pattern)));
  const queue = opened.map((pattern, at) => [pathOf(pattern), at % 2 === 0 ? "light" : "dark"] as const);
  const problems: unknown[] = [];
  const walkOn = async () => {
    const context = await browser.newContext();
    if (who) await signIn(context, site.url, who);
    const page = await newPage(context);
    for (let next = queue.pop(); next; next = queue.pop()) problems.push(...(await problemsOf(page, ...next)));
  };
  await Promise.all([walkOn(), walkOn()]);
  expect([opened.length > 0, problems]).toEqual([true, []]);
}

test.runIf(isThorough)(
  "UI-2 UI-4 UI-5 pages that an owner gets fit 360, 768 and 1440 px, and the browser complains of nothing",
  walkTimeout,
  () =>
    walk(
      owner,
      routes.filter((pattern) => !toOwners[pattern]),
    ),
);

test.runIf(isThorough)("UI-4 the walk by Tab finds each kind of problem", async () => {
  const page = await newPage(await browser.newContext());
  await page.setContent(`<style>.plain:focus { outline: none }</style><main>
    <a href="#a">a link</a> <button>good</button> <button class="plain">plain</button>
    <a href="#b" tabindex="-1">left out</a> <button style="position: fixed; left: -300px">off screen</button>
    <button aria-haspopup="menu" aria-expanded="false">dead</button></main>`);
  expect(await keyboardProblems(page)).toEqual([
    'focus can\'t be seen: button "plain"',
    'focus is outside the screen: button "off screen"',
    'Tab doesn\'t reach: a "left out"',
  ]);
  expect(await popupProblems(page, new Set())).toEqual(['Enter doesn\'t open it, or the focus stays: button "dead"']);
  await page.goto("about:blank");
  await page.setContent(
    "<button>first</button><button id=trap onkeydown='event.preventDefault()'>trap</button><button>last</button>",
  );
  expect(await keyboardProblems(page)).toEqual([
    'Tab never comes around; it is at button "trap" trap',
    'Tab doesn\'t reach: button "last"',
  ]);
});

test.runIf(isThorough)("UI-2 UI-4 UI-5 so do pages that visitors get", walkTimeout, () =>
  walk(null, routes.filter(isOpen)),
);

test.runIf(isThorough)("UI-2 UI-5 so do pages that viewers get", walkTimeout, () =>
  walk(
    viewer,
    routes.filter((pattern) => !toOwners[pattern] && !refusedToViewers.includes(pattern) && !isOpen(pattern)),
  ),
);
