import { seedProject } from "@towpath/core/testing";
import { githubInstallation, user, verification } from "@towpath/db/schema";
import { gitHubSettings } from "@towpath/github-stand-in";
import { freePort } from "@towpath/role/testing";
import { eq } from "drizzle-orm";
import { afterAll, expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { startFakeGitHub } from "./fake-github.ts";
import { openSite } from "./site.ts";
import { answerOf, callServerFunction, type Member, newVisitor, samplePassword, seededMember } from "./visitor.ts";

let gitHub: Awaited<ReturnType<typeof startFakeGitHub>>;
const site = openSite(async () => {
  const port = await freePort();
  gitHub = await startFakeGitHub(port, [
    {
      id: 1,
      login: "ada",
      installations: [
        { id: 101, login: "ada" },
        { id: 102, login: "big-company", membership: "admin" },
        { id: 104, login: "reads-one", membership: "member" },
        { id: 105, login: "invited-to", membership: "pending admin" },
        { id: 106, login: "outside-of", membership: "none" },
        { id: 107, login: "silent-about", membership: "hidden" },
        { id: 108, login: "somebody" },
      ],
    },
    { id: 4, login: "owner-two", installations: [{ id: 102, login: "big-company", membership: "admin" }] },
    { id: 2, login: "new", installations: [] },
    { id: 3, login: "paused", installations: [{ id: 103, login: "paused", suspended: true }] },
  ]);
  return gitHubSettings(`http://localhost:${port}`);
});

afterAll(() => gitHub?.stop());

let codes = 0;
/** A new authorization code of a user. */
const codeOf = (login: string) => `${login}-${++codes}`;

/** Starts a round trip. Returns the `state` in the URL that the browser is sent to. */
async function begin(member: Member, otherAccount = false): Promise<{ state: string; url: URL }> {
  const data = { orgSlug: member.organization.slug, state: { purpose: otherAccount ? "install" : "connect" } };
  const { status, text } = await callServerFunction(member.visitor, "github-user.getUserOAuthUrl", "POST", data);
  expect(status).toBe(200);
  const url = new URL(/http:\\?\/\\?\/[^"]+/.exec(text)?.[0].replaceAll("\\/", "/") ?? "");
  return { state: url.searchParams.get("state") ?? "", url };
}

const callback = async (member: Pick<Member, "visitor">, query: Record<string, string>, path = "callback") => {
  const response = await member.visitor.get(`/api/github/${path}?${new URLSearchParams(query)}`, {
    "sec-fetch-site": "cross-site",
  });
  expect(response.status).toBe(302);
  return response.headers.get("location") ?? "";
};

const installationsOf = async ({ organization }: Member) =>
  (await site.db.select().from(githubInstallation).where(eq(githubInstallation.organizationId, organization.id)))
    .map(({ installationId }) => installationId)
    .filter((id) => id !== organization.installationId);

test("ONB-2 GH-1 authorizing records the user's own installation, and only that one", async () => {
  const member = await seededMember(site.url, site.db);
  const { state, url } = await begin(member);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    client_id: "Iv1.test",
    redirect_uri: `${site.url}/api/github/callback`,
  });
  const location = await callback(member, { state, code: codeOf("ada") });
  expect(location).toBe(`/${member.organization.slug}/welcome/connect-github`);
  // Ada can read one repository of the company. That must not give her organization the whole installation.
  expect(await installationsOf(member)).toEqual([101]);
  const [account] = await site.db.select().from(user).where(eq(user.id, member.userId));
  expect(account?.githubUserId).toBe(1);
});

test("ONB-2 without an installation of their own, users are sent to GitHub's install page and back", async () => {
  for (const login of ["new", "paused"]) {
    const member = await seededMember(site.url, site.db);
    const { state } = await begin(member);
    const install = new URL(await callback(member, { state, code: codeOf(login) }));
    expect(install.pathname).toBe("/apps/towpath-test/installations/new");
    const next = install.searchParams.get("state") ?? "";
    const authorize = new URL(
      await callback(member, { state: next, installation_id: "101", setup_action: "install" }, "setup"),
    );
    expect(authorize.pathname).toBe("/login/oauth/authorize");
    // Anyone can change the id in the URL, so GitHub's list for this user decides.
    const refused = await callback(member, { state: authorize.searchParams.get("state") ?? "", code: codeOf(login) });
    expect(refused).toContain("problem=not_yours");
    expect(await installationsOf(member)).toEqual([]);
  }
});

test("ONB-2 a new installation is recorded once GitHub has confirmed its owner", async () => {
  const member = await seededMember(site.url, site.db);
  const { state } = await begin(member, true);
  const query = { state, installation_id: "102", setup_action: "install", code: codeOf("ada") };
  expect(await callback(member, query, "setup")).toBe(`/${member.organization.slug}/welcome/connect-github`);
  expect(await installationsOf(member)).toEqual([102]);
});

test.runIf(isThorough)(
  "GH-1 ONB-2 a user who can read an account's repository but doesn't administer the account can't claim its installation",
  async () => {
    const member = await seededMember(site.url, site.db);
    const claim = async (installationId: number) => {
      const { state } = await begin(member, true);
      const query = { state, installation_id: String(installationId), setup_action: "install", code: codeOf("ada") };
      return callback(member, query, "setup");
    };
    for (const [id, login] of [
      [104, "reads-one"],
      [105, "invited-to"],
      [106, "outside-of"],
      [108, "somebody"],
    ] as const) {
      expect(await claim(id)).toContain(`problem=not_admin&account=${login}`);
    }
    expect(await claim(107)).toContain("problem=unverified&account=silent-about");
    expect(await installationsOf(member)).toEqual([]);
    const page = await member.visitor.get(await claim(104));
    expect(await page.text()).toContain("Only an administrator of reads-one can connect it");
  },
);

test("GH-1 a second organization of Towpath can claim an installation only if its user administers the account, too", async () => {
  const query = { installation_id: "102", setup_action: "install" };
  for (const login of ["ada", "owner-two"]) {
    const member = await seededMember(site.url, site.db);
    const { state } = await begin(member, true);
    const location = await callback(member, { ...query, state, code: codeOf(login) }, "setup");
    expect(location).toBe(`/${member.organization.slug}/welcome/connect-github`);
    expect(await installationsOf(member)).toEqual([102]);
  }
});

test("a state that is unknown, missing, used or expired records nothing", async () => {
  const member = await seededMember(site.url, site.db);
  for (const state of ["", "forged", "x".repeat(5000)]) {
    expect(await callback(member, { state, code: codeOf("ada") })).toContain("problem=expired");
  }
  const used = await begin(member);
  expect(await callback(member, { state: used.state })).toContain("problem=declined");
  expect(await callback(member, { state: used.state, code: codeOf("ada") })).toContain("problem=expired");
  const late = await begin(member);
  await site.db.update(verification).set({ expiresAt: new Date(Date.now() - 1000) });
  expect(await callback(member, { state: late.state, code: codeOf("ada") })).toContain("problem=expired");
  expect(await installationsOf(member)).toEqual([]);
});

test.runIf(isThorough)("a state can't be used in another session, and the attempt uses it up", async () => {
  const victim = await seededMember(site.url, site.db);
  const attacker = await seededMember(site.url, site.db);
  const { state } = await begin(attacker);
  expect(await callback(victim, { state, code: codeOf("ada") })).toContain("problem=expired");
  expect(await callback(attacker, { state, code: codeOf("ada") })).toContain("problem=expired");
  expect(await installationsOf(victim)).toEqual([]);
  const anonymous = { visitor: newVisitor(site.url) };
  expect(await callback(anonymous, { state: (await begin(attacker)).state, code: codeOf("ada") })).toBe("/login");
});

test("a code that GitHub refuses leads to a page that says what to do", async () => {
  const member = await seededMember(site.url, site.db);
  const { state } = await begin(member);
  const location = await callback(member, { state, code: "of-nobody" });
  expect(location).toBe("/new/github-install?problem=failed");
  const page = await member.visitor.get(location);
  expect(page.headers.get("location")).toContain("welcome/connect-github?success=false&problem=failed");
});

test("ONB-3 ONB-4 the quickstart authorizes at GitHub first, and stores the token encrypted, for one server name only", async () => {
  const member = await seededMember(site.url, site.db);
  const orgSlug = member.organization.slug;
  const start = (serverName: string) =>
    callServerFunction(member.visitor, "onboarding.startQuickstart", "POST", { orgSlug, serverName });
  const { text } = await start("brave-teal-otter");
  expect(text).toContain("authorize");
  const state = /state=([\w-]+)/.exec(text)?.[1] ?? "";
  const code = codeOf("ada");
  expect(await callback(member, { state, code })).toBe(
    `/${orgSlug}/welcome/server-setup?serverName=brave-teal-otter&isCreating=true`,
  );
  const { rows } = await site.pool.query("SELECT identifier, value FROM verification WHERE identifier LIKE 'secret:%'");
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(code);
  // An attacker's link with another name can't use it.
  expect((await start("another-teal-otter")).text).toContain("authorize");
});

test("GH-4 ONB-3 a user OAuth URL stands for what to do after it, and is refused for a name that can't be used", async () => {
  const member = await seededMember(site.url, site.db);
  const orgSlug = member.organization.slug;
  const urlFor = (state: unknown) =>
    callServerFunction(member.visitor, "github-user.getUserOAuthUrl", "POST", { orgSlug, state });
  const quickstart = { purpose: "quickstart", serverName: "brave-teal-otter" };
  const { url } = (await answerOf(urlFor(quickstart))) as { readonly url: string };
  const { pathname, searchParams } = new URL(url);
  expect([pathname, searchParams.get("client_id")]).toEqual(["/login/oauth/authorize", "Iv1.test"]);
  // Neither the purpose nor the name is in the URL, where it could be changed.
  expect(url).not.toMatch(/quickstart|brave/);
  expect(await callback(member, { state: searchParams.get("state") ?? "", code: codeOf("ada") })).toBe(
    `/${orgSlug}/welcome/server-setup?serverName=brave-teal-otter&isCreating=true`,
  );
  expect((await urlFor({ ...quickstart, serverName: "abc" })).status).toBe(422);
  expect((await urlFor({ purpose: "claim", installationId: 101 })).status).toBe(422);
  const seeded = await seedProject(site.db, member.organization);
  const taken = await urlFor({ ...quickstart, serverName: seeded.name });
  expect([taken.status, taken.text]).toEqual([422, expect.stringContaining("This project name is already taken")]);
});

test("GH-4 exchanging a code performs its state's purpose, and returns the next path", async () => {
  const member = await seededMember(site.url, site.db);
  const exchange = (input: unknown) => callServerFunction(member.visitor, "github-user.exchangeCode", "POST", input);
  const { state } = await begin(member);
  const code = codeOf("ada");
  const next = `/${member.organization.slug}/welcome/connect-github`;
  expect(await answerOf(exchange({ state, code }))).toEqual({ next });
  expect(await installationsOf(member)).toEqual([101]);
  expect(await answerOf(exchange({ state, code }))).toEqual({ next: "/new/github-install?problem=expired" });
  // In another session a state stands for nothing.
  const other = await seededMember(site.url, site.db);
  const stolen = { state: (await begin(other)).state, code: codeOf("ada") };
  expect(await answerOf(exchange(stolen))).toEqual({ next: "/new/github-install?problem=expired" });
  const refused = await exchange({ state: (await begin(member)).state, code: "of-nobody" });
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("GitHub rejected the credentials")]);
});

test("GH-4 a user's token is kept for one server of one session, and never comes back", async () => {
  const member = await seededMember(site.url, site.db);
  const other = await seededMember(site.url, site.db);
  const serverName = "calm-blue-crane";
  const accessToken = codeOf("ada");
  const store = (token: string) =>
    callServerFunction(member.visitor, "github-user.storeTemporaryToken", "POST", { serverName, accessToken: token });
  const kept = (of: Member, name = serverName) =>
    callServerFunction(of.visitor, "github-user.getTemporaryToken", "GET", { serverName: name });
  expect(await answerOf(kept(member))).toBeNull();
  expect((await store("of-nobody")).status).not.toBe(200);
  expect(await answerOf(store(accessToken))).toEqual({ login: "ada" });
  const found = await kept(member);
  expect(found.text).not.toContain(accessToken);
  expect(await answerOf(kept(member))).toMatchObject({ user: { id: 1, login: "ada", avatar_url: expect.any(String) } });
  expect(await answerOf(kept(member, "brave-teal-otter"))).toBeNull();
  expect(await answerOf(kept(other))).toBeNull();
  // Nor in another session of the same person, nor after a quarter of an hour.
  const [person] = await site.db.select().from(user).where(eq(user.id, member.userId));
  const elsewhere = newVisitor(site.url);
  await elsewhere.submit("/provider/sign-in", { email: person?.email ?? "", password: samplePassword });
  expect(await answerOf(kept({ ...member, visitor: elsewhere }))).toBeNull();
  const { rows } = await site.pool.query(
    "SELECT max(expires_at) < now() + interval '15 minutes' AS soon FROM verification WHERE identifier LIKE 'secret:%'",
  );
  expect(rows).toEqual([{ soon: true }]);
  await site.pool.query("UPDATE verification SET expires_at = now() - interval '1 second'");
  expect(await answerOf(kept(member))).toBeNull();
});

test("ONB-3 a link with isCreating creates nothing for a user who has not just authorized", async () => {
  const member = await seededMember(site.url, site.db);
  const path = `/${member.organization.slug}/welcome/server-setup?serverName=calm-blue-crane&isCreating=true`;
  const html = await (await member.visitor.get(path)).text();
  expect(html).toContain("Deploy the echo server");
  expect(html).not.toContain("Creating the server");
});

test("ONB-2 changes that began in the settings come back there, also when they failed", async () => {
  const member = await seededMember(site.url, site.db);
  const orgSlug = member.organization.slug;
  const start = async (purpose: "connect" | "install") => {
    const data = { orgSlug, state: { purpose, from: "settings" } };
    const call = callServerFunction(member.visitor, "github-user.getUserOAuthUrl", "POST", data);
    return new URL(((await answerOf(call)) as { url: string }).url).searchParams.get("state") ?? "";
  };
  expect(await callback(member, { state: await start("connect"), code: codeOf("ada") })).toBe(
    `/${orgSlug}/settings/github`,
  );
  const query = { state: await start("install"), installation_id: "104", code: codeOf("ada") };
  expect(await callback(member, query, "setup")).toBe(
    `/${orgSlug}/settings/github?problem=not_admin&account=reads-one`,
  );
});

test("GH-4 installations of a GitHub user are those of the user's own account and organizations", async () => {
  const member = await seededMember(site.url, site.db);
  const list = (githubUserId: number) =>
    callServerFunction(member.visitor, "github.getInstallationsOfUser", "GET", { githubUserId });
  expect((await list(1)).status).toBe(404);
  const { state } = await begin(member);
  await callback(member, { state, code: codeOf("ada") });
  expect(await answerOf(list(1))).toMatchObject([
    { installationId: member.organization.installationId, organizationId: member.organization.id },
    { installationId: 101, organizationId: member.organization.id },
  ]);
  expect((await list(2)).status).toBe(404);
});
