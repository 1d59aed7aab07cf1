import { createTestDatabase, type TestDatabase } from "@towpath/db/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newVisitor, samplePassword, signedUpVisitor } from "./visitor.ts";
import { startWeb, type WebProcess } from "./web-process.ts";

let database: TestDatabase;
let web: WebProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  web = await startWeb({ databaseUrl: database.url });
}, 120_000);
afterAll(async () => {
  await web?.stop();
  await database?.close();
});

const location = (response: Response) => response.headers.get("location");

test("AUTH-1 AUTH-2 /login and /signup redirect at once to the embedded provider, with a checked return path", async () => {
  const visitor = newVisitor(web.url);
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

test("AUTH-2 an account is made, signs in again and comes back to where it wanted", async () => {
  const email = "ada@example.com";
  await signedUpVisitor(web.url, email);
  const visitor = newVisitor(web.url);
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

test("AUTH-1 a return path smuggled into the form leads nowhere else", async () => {
  const email = "grace@example.com";
  await signedUpVisitor(web.url, email);
  for (const returnTo of ["//evil.example", "/\\evil.example", "https://evil.example", "/%2f/evil.example"]) {
    const response = await newVisitor(web.url).submit("/provider/sign-in", {
      email,
      password: samplePassword,
      returnTo,
    });
    expect(location(response)).toBe("/");
  }
});

test("AUTH-2 what is wrong with a form stands beside its fields, and what was typed is kept except the password", async () => {
  const fields = { firstName: "", lastName: "B<b>", email: "no address", password: "short-pw" };
  const response = await newVisitor(web.url).submit("/provider/sign-up", fields);
  const html = await response.text();
  expect(html).toContain("First name is required");
  expect(html).toContain("That does not look like an email address");
  expect(html).toContain("Password must be at least 10 characters long");
  expect(html).toContain("B&lt;b&gt;");
  expect(html).not.toContain("short-pw");
});

test("AUTH-11 an e-mail address that has an account already makes no second one and opens nothing", async () => {
  const email = "twice@example.com";
  await signedUpVisitor(web.url, email);
  const visitor = newVisitor(web.url);
  const again = await visitor.submit("/provider/sign-up", {
    firstName: "Eve",
    lastName: "Else",
    email: email.toUpperCase(),
    password: "another password",
  });
  expect(await again.text()).toContain("There is an account with this email already.");
  expect(visitor.cookie("towpath.session_token")).toBeUndefined();
});

test("AUTH-2 another site cannot sign its visitor in, or up", async () => {
  const email = "victim@example.com";
  await signedUpVisitor(web.url, email);
  const fields = { email, password: samplePassword };
  const origins: Record<string, string>[] = [
    { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ];
  for (const headers of origins) {
    const visitor = newVisitor(web.url);
    expect((await visitor.submit("/provider/sign-in", fields, headers)).status).toBe(403);
    expect(visitor.cookie("towpath.session_token")).toBeUndefined();
  }
});

test("AUTH-3 /logout ends the session on the server, and another site cannot do it", async () => {
  const visitor = await signedUpVisitor(web.url);
  const token = visitor.cookie("towpath.session_token") ?? "";
  const page = await visitor.get("/logout", { "sec-fetch-site": "cross-site" });
  expect(await page.text()).toContain("Sign out of Towpath?");
  expect((await visitor.submit("/logout", {}, { "sec-fetch-site": "cross-site" })).status).toBe(200);
  const prefetch = await visitor.get("/logout", { "sec-purpose": "prefetch" });
  expect(prefetch.status).toBe(200);
  expect((await visitor.get("/account")).status).toBe(200);

  const ended = await visitor.submit("/logout", {});
  expect([ended.status, location(ended)]).toEqual([303, "/"]);
  const thief = await fetch(`${web.url}/account`, {
    headers: { cookie: `towpath.session_token=${token}` },
    redirect: "manual",
  });
  expect(thief.headers.get("location")).toBe("/login?returnTo=%2Faccount");
});

test("AUTH-3 /logout typed by hand, or reached from a page of ours, signs out at once", async () => {
  for (const site of ["none", "same-origin"]) {
    const visitor = await signedUpVisitor(web.url);
    const response = await visitor.get("/logout", { "sec-fetch-site": site });
    expect([response.status, location(response)]).toEqual([303, "/"]);
    expect(location(await visitor.get("/account"))).toContain("/login");
  }
});

test("AUTH-2 guessing passwords is slowed down, whatever address a client claims to have", async () => {
  const visitor = newVisitor(web.url);
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
