import { expect, test } from "vitest";
import { isThorough } from "../../../tests/thorough.ts";
import { sharedSite } from "./site.ts";
import { newVisitor, samplePassword, signedUpVisitor } from "./visitor.ts";
import { startWeb } from "./web-process.ts";

const site = sharedSite();
const location = (response: Response) => response.headers.get("location");

test("AUTH-1 AUTH-2 /login and /signup redirect at once to the embedded provider, with a checked return path", async () => {
  const visitor = newVisitor(site.url);
  for (const [path, target] of [
    ["/login", "/provider/sign-in"],
    ["/signup", "/provider/sign-up"],
    ["/login?returnTo=%2Facme%2Fservers%3Ftext%3Da", "/provider/sign-in?returnTo=%2Facme%2Fservers%3Ftext%3Da"],
    ["/login?returnTo=https%3A%2F%2Fevil.example", "/provider/sign-in"],
    ["/login?returnTo=%2F%2Fevil.example", "/provider/sign-in"],
    ["/login?returnTo=%2F%5Cevil.example", "/provider/sign-in"],
    ["/login?returnTo=%2F%252Fevil.example", "/provider/sign-in"],
  ] as const) {
    const response = await visitor.get(path);
    expect([path, response.status, location(response)]).toEqual([path, 302, target]);
    expect(response.headers.get("cache-control")).toContain("no-store");
  }
});

test("AUTH-2 a new account signs in again and returns to the requested page", async () => {
  const email = "ada@example.com";
  await signedUpVisitor(site.url, email);
  const visitor = newVisitor(site.url);
  const wrong = await visitor.submit("/provider/sign-in", { email, password: "something else entirely" });
  expect(wrong.status).toBe(200);
  expect(await wrong.text()).toContain("No account matches this email and password.");
  const right = await visitor.submit("/provider/sign-in", {
    email,
    password: samplePassword,
    returnTo: "/account?a=b",
  });
  expect([right.status, location(right)]).toEqual([303, "/account?a=b"]);
  const account = await visitor.get("/account?a=b");
  expect(account.status).toBe(200);
  expect(await account.text()).toContain(email);
});

test.runIf(isThorough)("AUTH-1 a return path to another site in the form is ignored", async () => {
  const email = "grace@example.com";
  await signedUpVisitor(site.url, email);
  for (const returnTo of ["//evil.example", "/\\evil.example", "https://evil.example", "/%2f/evil.example"]) {
    const response = await newVisitor(site.url).submit("/provider/sign-in", {
      email,
      password: samplePassword,
      returnTo,
    });
    expect(location(response)).toBe("/");
  }
});

test("AUTH-2 a refused form shows its problems and keeps the input except the password", async () => {
  const fields = { firstName: "", lastName: "B<b>", email: "no address", password: "short-pw" };
  const response = await newVisitor(site.url).submit("/provider/sign-up", fields);
  const html = await response.text();
  expect(html).toContain("First name is required");
  expect(html).toContain("That does not look like an email address");
  expect(html).toContain("Password must be at least 10 characters long");
  expect(html).toContain("B&lt;b&gt;");
  expect(html).not.toContain("short-pw");
});

test("AUTH-11 signing up with the email address of an account creates nothing and signs nobody in", async () => {
  const email = "twice@example.com";
  await signedUpVisitor(site.url, email);
  const visitor = newVisitor(site.url);
  const again = await visitor.submit("/provider/sign-up", {
    firstName: "Eve",
    lastName: "Else",
    email: email.toUpperCase(),
    password: "another password",
  });
  expect(await again.text()).toContain("An account with this email already exists.");
  expect(visitor.sessionCookie()).toBeUndefined();
});

test("AUTH-2 another site can't sign its visitors in", async () => {
  const email = "victim@example.com";
  await signedUpVisitor(site.url, email);
  const fields = { email, password: samplePassword };
  const origins: Record<string, string>[] = [
    { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ];
  for (const headers of origins) {
    const visitor = newVisitor(site.url);
    expect((await visitor.submit("/provider/sign-in", fields, headers)).status).toBe(403);
    expect(visitor.sessionCookie()).toBeUndefined();
  }
});

test("AUTH-3 /logout ends the session on the server, and another site can't do it", async () => {
  const visitor = await signedUpVisitor(site.url);
  const { name, value } = visitor.sessionCookie() ?? {};
  const page = await visitor.get("/logout", { "sec-fetch-site": "cross-site" });
  expect(await page.text()).toContain("Sign out of Towpath?");
  expect((await visitor.submit("/logout", {}, { "sec-fetch-site": "cross-site" })).status).toBe(200);
  const prefetch = await visitor.get("/logout", { "sec-purpose": "prefetch" });
  expect(prefetch.status).toBe(200);
  expect((await visitor.get("/account")).status).toBe(200);

  const ended = await visitor.submit("/logout", {});
  expect([ended.status, location(ended)]).toEqual([303, "/"]);
  const thief = await fetch(`${site.url}/account`, {
    headers: { cookie: `${name}=${value}` },
    redirect: "manual",
  });
  expect(thief.headers.get("location")).toBe("/login?returnTo=%2Faccount");
});

test("AUTH-3 /logout signs out at once when typed into the URL bar or followed from our own pages", async () => {
  for (const from of ["none", "same-origin"]) {
    const visitor = await signedUpVisitor(site.url);
    const response = await visitor.get("/logout", { "sec-fetch-site": from });
    expect([response.status, location(response)]).toEqual([303, "/"]);
    expect(location(await visitor.get("/account"))).toContain("/login");
  }
});

test("AUTH-2 guessing passwords is rate-limited, for any address that the client claims", async () => {
  const visitor = newVisitor(site.url);
  let limited = false;
  for (let attempt = 0; attempt < 25 && !limited; attempt++) {
    const fields = { email: "ada@example.com", password: `guess number ${attempt}` };
    const response = await visitor.submit("/provider/sign-in", fields, {
      "x-towpath-client-address": `192.0.2.${attempt}`,
      "x-client-ip": `192.0.2.${attempt}`,
    });
    limited = (await response.text()).includes("Too many attempts");
  }
  expect(limited).toBe(true);
});

test.runIf(isThorough)(
  "AUTH-2 guesses for one account are limited across addresses and processes, and its owner still gets in",
  async () => {
    const second = await startWeb({ databaseUrl: site.databaseUrl });
    const email = "target@example.com";
    const from = (address: string) => ({ "x-forwarded-for": address });
    const fields = { firstName: "Ada", lastName: "B", email, password: samplePassword };
    expect((await newVisitor(site.url).submit("/provider/sign-up", fields, from("198.51.100.1"))).status).toBe(303);

    // Half of the guesses go to another process, because the count is in the database.
    const guess = async (attempt: number, target = email) => {
      const origin = attempt % 2 === 0 ? site.url : second.url;
      const answer = await newVisitor(origin).submit(
        "/provider/sign-in",
        { email: target, password: `guess number ${attempt}` },
        from(`203.0.113.${attempt}`),
      );
      return /Too many attempts\. Try again in (\d+) seconds?\./.exec(await answer.text())?.[1];
    };
    const firstRefused = async (target: string) => {
      for (let attempt = 1; attempt < 60; attempt++) if (await guess(attempt, target)) return attempt;
      return null;
    };
    const refusedAt = await firstRefused(email);
    expect(refusedAt).toBeGreaterThan(20);
    expect(refusedAt).toBeLessThan(30);
    // The response is the same for an account that does not exist.
    expect(await firstRefused("nobody-at-all@example.com")).toBeLessThan(30);
    await second.stop();

    // From an address that she has signed in from before, the owner doesn't have to wait.
    const owner = await newVisitor(site.url).submit(
      "/provider/sign-in",
      { email, password: samplePassword },
      from("198.51.100.1"),
    );
    expect(owner.status).toBe(303);
    // Elsewhere the wait is short.
    const wait = Number((await guess(100)) ?? 0);
    expect(wait).toBeLessThanOrEqual(60);
  },
  120_000,
);

test("AUTH-2 a second session cookie of the same name signs nobody in, with an explanation", async () => {
  const [person, stranger] = [await signedUpVisitor(site.url), await signedUpVisitor(site.url)];
  const [own, injected] = [person.sessionCookie(), stranger.sessionCookie()];
  if (!own || !injected) throw new Error("nobody is signed in");
  expect(own.name).toMatch(/^towpath-[0-9a-f]{16}\.session_token$/);
  for (const cookie of [
    `${injected.name}=${injected.value}; ${own.name}=${own.value}`,
    `${own.name}=${own.value}; ${injected.name}=${injected.value}`,
    `${own.name}=${own.value}; ${own.name}=`,
  ]) {
    const ask = (path: string, accept: string, method = "GET") =>
      fetch(`${site.url}${path}`, {
        method,
        headers: { cookie, accept, "sec-fetch-site": "same-origin" },
        redirect: "manual",
      });
    const html = "text/html,application/xhtml+xml";
    for (const [path, method] of [
      ["/account", "GET"],
      ["/login?returnTo=%2Faccount", "GET"],
      ["/provider/sign-in", "POST"],
    ] as const) {
      const answer = await ask(path, html, method);
      expect([answer.status, location(answer)]).toEqual([303, "/provider/problem?error=repeated_cookie"]);
      expect(answer.headers.get("clear-site-data")).toBe('"cookies"');
    }
    const problem = await ask("/provider/problem?error=repeated_cookie", html);
    expect(await problem.text()).toContain("two sign-in cookies");
    // Requests of scripts are anonymous, too, and clear the cookies.
    const log = await ask("/api/builds/0192b0f4-7b7a-7c3c-8f00-000000000001/log", "text/event-stream");
    expect([log.status, log.headers.get("clear-site-data")]).toEqual([401, '"cookies"']);
  }
  // The guessable name of earlier versions is not accepted.
  const old = await fetch(`${site.url}/account`, {
    headers: { cookie: `towpath.session_token=${own.value}` },
    redirect: "manual",
  });
  expect(location(old)).toBe("/login?returnTo=%2Faccount");
  expect((await person.get("/account")).status).toBe(200);
});

test.runIf(isThorough)(
  "AUTH-2 behind TLS every cookie is __Host-: Secure, for all paths of this host only",
  async () => {
    const secure = await startWeb({
      databaseUrl: site.databaseUrl,
      environment: () => ({ TOWPATH_URL: "https://towpath.example" }),
    });
    const origin = `http://localhost:${/"port":(\d+)/.exec(secure.output())?.[1]}`;
    const fields = { firstName: "A", lastName: "B", email: "tls@example.com", password: samplePassword };
    const visitor = newVisitor(origin);
    const response = await visitor.submit("/provider/sign-up", fields);
    const cookies = response.headers.getSetCookie();
    expect(cookies.length).toBeGreaterThan(0);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__Host-towpath\./);
      expect(cookie).toMatch(/; Secure/i);
      expect(cookie).toMatch(/; Path=\/(;|$)/i);
      expect(cookie).toMatch(/; HttpOnly/i);
      expect(cookie).not.toMatch(/; Domain=/i);
    }
    const signedIn = await visitor.get("/account");
    // The cookie of an earlier version is not accepted.
    const old = await fetch(`${origin}/account`, {
      headers: { cookie: `__Secure-towpath.session_token=${visitor.sessionCookie()?.value}` },
      redirect: "manual",
    });
    await secure.stop();
    expect(signedIn.status).toBe(200);
    expect(location(old)).toBe("/login?returnTo=%2Faccount");
  },
);
