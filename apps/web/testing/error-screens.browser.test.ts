import { member, project } from "@towpath/db/schema";
import { eq, inArray } from "drizzle-orm";
import type { Page, Route } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { newPage, openBrowser, signIn, untilHydrated } from "./browser.ts";
import { type PageValues, pageRoutes, pathWith, seedPages } from "./page-routes.ts";
import { sharedSite } from "./site.ts";
import { callServerFunction, type Member, seededMember, type Visitor } from "./visitor.ts";

// Every page of the route tree, and each of its failures: a page without the specified screen fails here, also a new
// one.

const walkTimeout = { timeout: 300_000 };
const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let stranger: Member;
let values: PageValues;
/** Pages that the router can open in the app: not documents that only the server renders. */
let routes: readonly string[];
let page: Page;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  stranger = await seededMember(site.url, site.db);
  values = await seedPages(site, owner);
  // So that the page reads clients.
  await site.db.update(project).set({ authMode: "towpath-cloud" }).where(eq(project.kind, "hosted"));
  const served = /^\/(login$|signup$|provider\/|oauth\/authorize$)/;
  routes = (await pageRoutes()).filter((pattern) => !served.test(pattern));
});
beforeEach(async () => {
  const context = await browser.newContext();
  await signIn(context, site.url, owner);
  page = await newPage(context);
  return () => context.close();
});

/** Pages that only lead to others. */
const isLedOn = /^\/\$orgSlug\/settings$|welcome\/(connect-github|server-deploy)$/;

/** Opens a page as a link in the app does, and waits until the router is at rest. */
async function follow(path: string): Promise<void> {
  await page.evaluate(async (href) => {
    type Router = { navigate(to: { href: string }): Promise<void>; state: { status: string } };
    const router = (globalThis as unknown as { __TSR_ROUTER__: Router }).__TSR_ROUTER__;
    await router.navigate({ href });
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    do await frame();
    while (router.state.status !== "idle");
    await frame();
  }, path);
}

const screens = { 403: "Access Denied", 404: "Page Not Found", 409: "Something went wrong" } as const;
const texts = {
  "Access Denied": "You don't have permission to access this team's resources.",
  "Page Not Found": "The page you're looking for doesn't exist.",
  "Something went wrong": "An unexpected error occurred while loading this page.",
} as const;

/** The screen of the specification that the page shows with its text, link and title; else its heading. */
async function shown(): Promise<string | null> {
  const heading = page.locator("h1").last();
  await heading.waitFor();
  const name = await heading.textContent();
  const text = texts[name as keyof typeof texts];
  if (text === undefined || (await page.getByText(text).count()) === 0) return name;
  const title = await page.title();
  const home = await page.getByRole("link", { name: "Return Home" }).getAttribute("href");
  return title === `${name} · Towpath` && home === "/" ? name : `${name} with the title ${title} and ${home}`;
}

/** The guards' own queries, which succeed: only the page's own are refused. */
const ofGuards = /_serverFn\/(session\.|project-screen\.getProjectWithAuth|site\.)/;

/** Pages that read nothing on the way to them. */
const readsNothing: Readonly<Record<string, string>> = {
  "/$orgSlug/servers/registry": "Find a server in a registry",
  "/$orgSlug/settings/preferences": "Preferences",
  "/$orgSlug/welcome/connect-github": "GitHub is connected",
  "/$orgSlug/welcome/invite-teammates": "Invite people to :org",
  "/docs/search": "Search the documentation",
  "/new/github-install-success": "GitHub is connected",
  "/pricing": "Pricing",
  "/welcome/create-organization": "Welcome, Ada. Name your organization.",
};
/** Pages with their own views: PRJ-2, PRJ-8, ONB-6 and ONB-10, and targets of links in apps or messages. */
const ownViews: Readonly<Record<keyof typeof screens, Readonly<Record<string, string>>>> = {
  403: {},
  404: {
    "/account": "Account",
    "/$orgSlug/$projectName/clients": "Clients",
    "/$orgSlug/$projectName/code": "Code",
    "/$orgSlug/$projectName/deployments": "Deployments",
    "/$orgSlug/welcome/server-deploy": "Repository not found",
    "/invitations/$invitationId": "This invitation link doesn't work",
    "/oauth/choose-server": "This request has ended",
    "/oauth/consent": "This request has ended",
  },
  409: {
    "/account": "Account",
    "/$orgSlug/$projectName/clients": "Clients",
    "/$orgSlug/$projectName/code": "Code",
    "/$orgSlug/$projectName/deployments": "Deployments",
    // The log's filters stay: most failures are of a filter.
    "/$orgSlug/$projectName/logs": "Logs",
    "/$orgSlug/welcome/choose-repo": "Choose a repository",
    "/$orgSlug/welcome/server-deploy": "Choose a repository",
    "/new/import-project": "Choose a repository",
    "/new/select-repo": "Choose a repository",
  },
};
/** Search parameters that pages need before they query anything. */
const search: Readonly<Record<string, string>> = {
  "/$orgSlug/welcome/server-deploy": "?installationId=1&owner=acme&repo=echo",
};

const statuses = [403, 404, 409] as const;

test.each(statuses)(
  "ERR-1 ERR-2 ERR-3 pages show the specified screen when their data is refused with %i",
  walkTimeout,
  async (status) => {
    const key = { orgSlug: values.orgSlug, projectName: values.projectName };
    const ask = (visitor: Visitor, id: string, data: object) => callServerFunction(visitor, id, "GET", data);
    const forbidden = await ask(stranger.visitor, "session.getOrganization", key);
    const bodies = {
      403: forbidden.text,
      404: (await ask(owner.visitor, "project-screen.getProjectWithAuth", { ...key, projectName: "none" })).text,
      409: forbidden.text.replace("forbidden", "conflict").replace(/Forbidden: [^"]*/, "The lock gate is stuck."),
    };
    expect([forbidden.status, bodies[404].includes("not_found"), bodies[409].includes("lock gate")]).toEqual([
      403,
      true,
      true,
    ]);
    await page.goto(`${site.url}/${values.orgSlug}/settings/preferences`);
    await untilHydrated(page);
    await page.route(/_serverFn/, (route) =>
      ofGuards.test(route.request().url())
        ? route.continue()
        : route.fulfill({
            status,
            headers: { "content-type": "application/json", "x-tss-serialized": "true" },
            body: bodies[status],
          }),
    );
    const found: [string, string | null][] = [];
    // By default each page is tried with one of the three.
    const tried = routes.filter((_, at) => isThorough || at % statuses.length === statuses.indexOf(status));
    for (const pattern of tried) {
      await follow(pathWith(values, pattern) + (search[pattern] ?? ""));
      found.push([pattern, (await shown())?.replace(/Org org-\w+/, ":org") ?? null]);
    }
    const expected = (pattern: string) => readsNothing[pattern] ?? ownViews[status][pattern] ?? screens[status];
    expect(found).toEqual(tried.map((pattern) => [pattern, expected(pattern)]));
  },
);

/** By default every sixth page: that open pages notice a loss is the same code for all. */
const someOf = (patterns: readonly string[]) => patterns.filter((_, at) => isThorough || at % 6 === 0);

/** Opens each of these pages, loses access, and lets two minutes pass on it. */
async function walkAndLose(
  patterns: readonly string[],
  screen: keyof typeof texts,
  lose: () => Promise<unknown>,
  regain: () => Promise<unknown>,
) {
  await page.clock.install();
  const found: [string, string | null][] = [];
  await page.goto(`${site.url}/${values.orgSlug}/settings/preferences`);
  await untilHydrated(page);
  for (const pattern of patterns) {
    await follow(pathWith(values, pattern));
    const before = await shown();
    if (before !== null && before in texts) found.push([pattern, `${before} at once`]);
    await lose();
    await page.clock.fastForward(125_000);
    // The title follows the heading.
    await expect
      .poll(shown, { timeout: 10_000 })
      .toBe(screen)
      .catch(() => {});
    found.push([pattern, await shown()]);
    await regain();
  }
  expect(found).toEqual(patterns.map((pattern) => [pattern, screen]));
}

test("ERR-1 a page that is open says Access Denied when the membership is revoked", walkTimeout, async () => {
  const patterns = someOf(routes.filter((each) => /^\/\$orgSlug\/.*\w$/.test(each) && !isLedOn.test(each)));
  const [row] = await site.db.select().from(member).where(eq(member.userId, owner.userId));
  if (!row) throw new Error("The owner is no member.");
  await walkAndLose(
    patterns,
    "Access Denied",
    () => site.db.delete(member).where(eq(member.id, row.id)),
    () => site.db.insert(member).values(row),
  );
});

test.runIf(isThorough)(
  "ERR-2 PRJ-1 a project's page that is open says Page Not Found when the project is gone",
  walkTimeout,
  async () => {
    const patterns = someOf(routes.filter((each) => each.startsWith("/$orgSlug/$projectName") && !isLedOn.test(each)));
    const projects = eq(project.organizationId, owner.organization.id);
    const ids = (await site.db.select().from(project).where(projects)).map(({ id }) => id);
    const move = (organizationId: string) => () =>
      site.db.update(project).set({ organizationId }).where(inArray(project.id, ids));
    await walkAndLose(patterns, "Page Not Found", move(stranger.organization.id), move(owner.organization.id));
  },
);

test.runIf(isThorough)(
  "ERR-1 an answer from before the loss that arrives after it leaves no Page Not Found behind",
  async () => {
    const [row] = await site.db.select().from(member).where(eq(member.userId, owner.userId));
    if (!row) throw new Error("The owner is no member.");
    await page.goto(site.url + pathWith(values, "/$orgSlug/$projectName"));
    await untilHydrated(page);
    const [isLost, isKnown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ofOrganization = page.waitForResponse(/_serverFn\/session\.getOrganization/);
    const once = { times: 1 };
    const answerAndLose = async (route: Route) => {
      const response = await route.fetch();
      await site.db.delete(member).where(eq(member.id, row.id));
      isLost.resolve();
      await route.fulfill({ response });
    };
    await page.route(/_serverFn\/session\.getOrganization/, answerAndLose, once);
    const waitForBoth = async (route: Route) => {
      await Promise.all([isLost.promise, isKnown.promise]);
      // The page may have asked again in the meantime.
      await route.continue().catch(() => {});
    };
    await page.route(/_serverFn\/project-screen\.getProjectWithAuth/, waitForBoth, once);
    await page.evaluate(() => {
      type Client = { invalidateQueries(filter: { queryKey: readonly string[] }): Promise<void> };
      type Router = { options: { context: { queryClient: Client } } };
      const { queryClient } = (globalThis as unknown as { __TSR_ROUTER__: Router }).__TSR_ROUTER__.options.context;
      for (const key of ["organization", "project"]) void queryClient.invalidateQueries({ queryKey: [key] });
    });
    await ofOrganization;
    isKnown.resolve();
    await page.getByRole("heading", { name: "Page Not Found", exact: true }).waitFor();
    await page.getByRole("heading", { name: "Access Denied", exact: true }).waitFor();
    await site.db.insert(member).values(row);
  },
);
