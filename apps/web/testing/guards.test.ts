import { newId } from "@towpath/core/ids";
import { seedProject } from "@towpath/core/testing";
import { githubInstallation, member, organization, session, user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { sharedSite } from "./site.ts";
import { callServerFunction, newVisitor, seededMember, signedUpVisitor } from "./visitor.ts";

const site = sharedSite();
const goesTo = (response: Response) => [response.status, response.headers.get("location")];

test("PUB-4 visitors see the landing page, whose canonical URL is the site's root", async () => {
  const response = await newVisitor(site.url).get("/");
  const html = await response.text();
  expect(response.status).toBe(200);
  expect(html).toMatch(new RegExp(`<link rel="canonical" href="${site.url}/"`));
});

test("PUB-1 the public bar has the links of the specification, on every public page", async () => {
  for (const path of ["/", "/blog", "/docs", "/pricing"]) {
    const html = await (await newVisitor(site.url).get(path)).text();
    // Without the footer and the menu of phones, which link to the same pages.
    const [bar = ""] = /<header.*?<\/nav>/s.exec(html) ?? [];
    const links = [...bar.matchAll(/<a ([^>]*)>(.*?)<\/a>/gs)].map(([, attributes = "", inner = ""]) => [
      /href="([^"]*)"/.exec(attributes)?.[1]?.replace(/^https:\/\/github\.com\/.+/, "repository"),
      inner.replaceAll(/<svg.*?<\/svg>|<[^>]+>/gs, "") || /aria-label="([^"]*)"/.exec(attributes)?.[1],
    ]);
    expect([path, links]).toEqual([
      path,
      [
        ["/", "towpath"],
        ["repository", "17k+"],
        ["/blog", "Blog"],
        ["/docs", "Docs"],
        ["/pricing", "Pricing"],
        ["/login", "Sign in"],
        ["/signup", "Sign up"],
      ],
    ]);
  }
});

test("PUB-5 / redirects a signed-in user by their progress, in order", async () => {
  const visitor = await signedUpVisitor(site.url, "progress@example.com");
  expect(goesTo(await visitor.get("/"))).toEqual([307, "/welcome/create-organization"]);

  const made = await callServerFunction(visitor, "onboarding.createOrganization", "POST", { name: "Progress Inc." });
  expect(made.status).toBe(200);
  expect(goesTo(await visitor.get("/"))).toEqual([307, "/progress-inc/welcome/connect-github?success=false"]);

  const [row] = await site.db.select().from(organization).where(eq(organization.slug, "progress-inc"));
  const organizationId = row?.id ?? "";
  await site.db
    .insert(githubInstallation)
    .values({ installationId: 4711, organizationId, accountLogin: "progress", accountType: "User" });
  expect(goesTo(await visitor.get("/"))).toEqual([307, "/progress-inc/welcome/server-setup"]);

  const owned = { id: organizationId, slug: "progress-inc", installationId: 4711 };
  await seedProject(site.db, owned as Parameters<typeof seedProject>[1]);
  expect(goesTo(await visitor.get("/"))).toEqual([307, "/progress-inc"]);
  expect(goesTo(await visitor.get("/progress-inc"))).toEqual([307, "/progress-inc/servers"]);

  const [account] = await site.db.select().from(user).where(eq(user.email, "progress@example.com"));
  const second = newId();
  await site.db.insert(organization).values({ id: second, slug: "empty-one", name: "Empty" });
  await site.db
    .insert(member)
    .values({ id: newId(), organizationId: second, userId: account?.id ?? "", role: "owner" });
  await callServerFunction(visitor, "session.switchOrganization", "POST", { orgSlug: "empty-one" });
  expect(goesTo(await visitor.get("/"))).toEqual([307, "/empty-one/welcome/choose-repo"]);
});

test("ORG-1 /{orgSlug}/ redirects to its servers", async () => {
  const { visitor, organization: own } = await seededMember(site.url, site.db);
  const response = await visitor.get(`/${own.slug}/`);
  const next = response.headers.get("location") ?? "";
  const last = next.endsWith("/servers") ? next : (await visitor.get(next)).headers.get("location");
  expect(last).toBe(`/${own.slug}/servers`);
});

test("AUTH-7 without a session, every protected page redirects to the sign-in URL built from its path", async () => {
  const visitor = newVisitor(site.url);
  for (const path of [
    "/account",
    "/welcome/create-organization",
    "/new",
    "/acme/servers?type=open&text=a%26b",
    "/acme/welcome/server-setup",
    "/acme/settings/api-keys",
    "/acme/echo-one/deployments",
  ]) {
    const response = await visitor.get(path);
    const [status, target] = goesTo(response);
    expect([path, status]).toEqual([path, 307]);
    const url = new URL(String(target), site.url);
    expect([url.pathname, url.searchParams.get("returnTo")]).toEqual(["/login", path]);
  }
});

test("AUTH-1 AUTH-7 the sign-in URLs carry the requested path, and no other site's", async () => {
  const read = async (returnTo?: string) =>
    (await callServerFunction(newVisitor(site.url), "session.getSignInUrls", "GET", { returnTo })).text;
  const path = encodeURIComponent("/acme/servers?text=a&type=open");
  for (const page of ["login", "signup"]) {
    expect(await read("/acme/servers?text=a&type=open")).toContain(`"/${page}?returnTo=${path}"`);
    for (const elsewhere of [undefined, "/", "//evil.example", "https://evil.example/x"])
      expect(await read(elsewhere)).toContain(`"/${page}"`);
  }
});

test("AUTH-1 the authorization URL of the embedded provider is its own page", async () => {
  const call = callServerFunction(newVisitor(site.url), "session.createAuthorizationUrl", "POST", { returnTo: "/a" });
  expect((await call).text).toContain(`${site.url}/provider/sign-in?returnTo=%2Fa`);
});

test("AUTH-7 a session of a deleted account is not accepted", async () => {
  const visitor = await signedUpVisitor(site.url, "gone@example.com");
  await site.db.delete(user).where(eq(user.email, "gone@example.com"));
  expect(goesTo(await visitor.get("/account"))[1]).toContain("/login");
});

test("AUTH-8 another orgSlug is replaced by the active one, and the rest of the URL stays", async () => {
  const { visitor, organization: own } = await seededMember(site.url, site.db);
  const other = await seededMember(site.url, site.db);
  for (const slug of [other.organization.slug, "no-such-organization"]) {
    expect(goesTo(await visitor.get(`/${slug}/servers?text=a`))).toEqual([307, `/${own.slug}/servers?text=a`]);
  }
});

test("AUTH-8 without an active organization, users are redirected to /", async () => {
  const visitor = await signedUpVisitor(site.url);
  expect(goesTo(await visitor.get("/acme/servers"))).toEqual([307, "/"]);
});

test("AUTH-5 the session is synced to the organization on screen", async () => {
  const { visitor, userId, organization: own } = await seededMember(site.url, site.db);
  const active = async () =>
    (await site.db.select().from(session).where(eq(session.userId, userId))).map((row) => row.activeOrganizationId);
  expect(await active()).toEqual([null]);
  expect((await visitor.get(`/${own.slug}/servers`)).status).toBe(200);
  expect(await active()).toEqual([own.id]);
});

test("AUTH-5 a sync that fails is logged, and the page is shown all the same", async () => {
  const { visitor, organization: own } = await seededMember(site.url, site.db);
  await site.pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no sync today'; END $$;
    CREATE TRIGGER no_sync BEFORE UPDATE OF active_organization_id ON session FOR EACH ROW EXECUTE FUNCTION refuse()`);
  const before = site.output().length;
  const page = await visitor.get(`/${own.slug}/servers`);
  await site.pool.query("DROP TRIGGER no_sync ON session; DROP FUNCTION refuse");
  expect(page.status).toBe(200);
  const [line] = site
    .output()
    .slice(before)
    .split("\n")
    .filter((each) => each.includes("no sync today"));
  expect(JSON.parse(line ?? "{}")).toMatchObject({
    msg: "server function failed",
    function: "syncOrganizationSession",
  });
});

test("AUTH-7 a profile that is not found is logged and read as none", async () => {
  const [member, other] = [await seededMember(site.url, site.db), await seededMember(site.url, site.db)];
  const before = site.output().length;
  const read = (userId: string) => callServerFunction(member.visitor, "session.getProfile", "GET", { userId });
  expect((await read(member.userId)).text).toContain(member.organization.slug);
  const { status, text } = await read(other.userId);
  expect([status, text.includes(other.organization.slug)]).toEqual([200, false]);
  const logged = site
    .output()
    .slice(before)
    .split("\n")
    .filter((line) => line.includes("profile not found"));
  expect(logged.map((line) => JSON.parse(line).userId)).toEqual([other.userId]);
});

test("AUTH-5 a session that names an organization the user has left falls back to the first", async () => {
  const { visitor, userId, organization: own } = await seededMember(site.url, site.db);
  const other = await seededMember(site.url, site.db);
  await site.db.update(session).set({ activeOrganizationId: other.organization.id }).where(eq(session.userId, userId));
  expect(goesTo(await visitor.get("/"))[1]).toBe(`/${own.slug}/welcome/server-setup`);
});

test("PRJ-1 a missing project and one of another organization show the same Page Not Found", async () => {
  const { visitor, organization: own } = await seededMember(site.url, site.db);
  const other = await seededMember(site.url, site.db);
  const foreign = await seedProject(site.db, other.organization);
  for (const name of ["no-such-project", foreign.name]) {
    const response = await visitor.get(`/${own.slug}/${name}/deployments`);
    expect([name, response.status]).toEqual([name, 404]);
    expect(await response.text()).toContain("The page you&#x27;re looking for doesn&#x27;t exist.");
  }
});

const titleOf = (html: string) => /<title>(.*?)<\/title>/.exec(html)?.[1];

test("ERR-2 ERR-4 AUTH-7 an address without a page is Not Found, also to visitors; one that has a page is not", async () => {
  const { visitor, organization: own } = await seededMember(site.url, site.db);
  const { name } = await seedProject(site.db, own);
  const stranger = newVisitor(site.url);
  for (const [path, title] of [
    [`/${own.slug}/${name}/nope`, "Page Not Found · Towpath"],
    [`/${own.slug}/settings/nope/nope`, "Page Not Found · Towpath"],
  ] as const) {
    for (const who of [visitor, stranger]) {
      const response = await who.get(path);
      const html = await response.text();
      expect([path, response.status, html.includes(">Page Not Found<")]).toEqual([path, 404, true]);
      if (who === visitor) expect([path, titleOf(html)]).toEqual([path, title]);
    }
  }
  // The same for existing and unknown organizations, or visitors could find out which exist.
  for (const path of ["/prcing", `/${own.slug}`, `/${own.slug}/${name}`, `/${own.slug}/no-such-project`])
    expect(goesTo(await stranger.get(path))).toEqual([307, `/login?returnTo=${encodeURIComponent(path)}`]);
});

test("ERR-2 the page of a project that was deleted doesn't speak of branches", async () => {
  const { visitor, organization: own } = await seededMember(site.url, site.db);
  const html = await (await visitor.get(`/${own.slug}/gone-project?branchId=${newId()}`)).text();
  expect([html.includes("Branch not found"), html.includes(">Page Not Found<")]).toEqual([false, true]);
});

test("ERR-2 the title for a missing build says Page Not Found", async () => {
  const { visitor, organization: own } = await seededMember(site.url, site.db);
  const { name } = await seedProject(site.db, own);
  for (const log of ["build-logs", "server-logs"]) {
    const response = await visitor.get(`/${own.slug}/${name}/${log}/00000000-0000-7000-8000-000000000000`);
    const html = await response.text();
    expect([log, response.status, titleOf(html)]).toEqual([log, 404, "Page Not Found · Towpath"]);
    expect(html).toMatch(/<h1[^>]*>Page Not Found<\/h1>/);
    expect(html).toContain("Build not found");
  }
});

test("ONB-2 a successful connection redirects to the confirmation", async () => {
  const { visitor, organization: own } = await seededMember(site.url, site.db);
  expect(goesTo(await visitor.get(`/${own.slug}/welcome/connect-github`))).toEqual([
    307,
    "/new/github-install-success",
  ]);
  expect((await visitor.get(`/${own.slug}/welcome/connect-github?success=false`)).status).toBe(200);
});

test("ONB-8 ONB-9 /new redirects to GitHub first, then to the repositories", async () => {
  const { visitor, userId, organization: own } = await seededMember(site.url, site.db);
  expect(goesTo(await visitor.get("/new"))[1]).toBe("/new/github-install");
  await site.db.update(user).set({ githubUserId: 1 }).where(eq(user.id, userId));
  expect(goesTo(await visitor.get("/new"))[1]).toBe(`/new/select-repo?installationId=${own.installationId}`);
  expect(goesTo(await visitor.get("/new/select-repo?installationId=7"))[1]).toBe(
    `/${own.slug}/welcome/choose-repo?installationId=7`,
  );
});

test("PUB-13 /new/github-install-success is public", async () => {
  expect((await newVisitor(site.url).get("/new/github-install-success")).status).toBe(200);
});
