import { newId } from "@towpath/core/ids";
import { sha256 } from "@towpath/crypto";
import { user, verification } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { isThorough, rounds } from "../../../tests/thorough.ts";
import { appCode } from "./authenticator.ts";
import { expectAccessible, gotoWithoutScripts, newPage, openBrowser } from "./browser.ts";
import { sharedSite } from "./site.ts";
import { type Member, newVisitor, samplePassword, seededMember } from "./visitor.ts";

const site = sharedSite();
const browser = openBrowser();
let owner: Member;
let address: string;
let page: Page;

beforeAll(async () => {
  owner = await seededMember(site.url, site.db);
  const [row] = await site.db.select().from(user).where(eq(user.id, owner.userId));
  address = row?.email ?? "";
  page = await browser.signedInPage(site.url, owner);
});

const addressOf = (screen: string) => `${site.url}/${owner.organization.slug}/settings/${screen}`;
const open = (screen: string) => page.goto(addressOf(screen));

test("ORG-4 the profile's name is saved by keyboard and shown in the menu; an empty one is refused, an unsaved one kept or discarded", async () => {
  await open("preferences");
  await page.getByRole("navigation").getByRole("link", { name: "Profile" }).click();
  await page.getByRole("heading", { level: 1, name: "Profile" }).waitFor();
  await expectAccessible(page);
  await page.getByLabel("First name").fill("");
  await page.getByLabel("First name").press("Enter");
  await page.getByText("First name is required").waitFor();
  await page.getByLabel("First name").fill("Augusta");
  const question = page.getByRole("dialog", { name: "Leave without saving?" });
  await page.getByRole("navigation").getByRole("link", { name: "Preferences" }).click();
  await question.getByText("Your changes to the name are not saved yet.").waitFor();
  await question.getByRole("button", { name: "Keep editing" }).click();
  await question.waitFor({ state: "detached" });
  await expect.poll(() => page.getByLabel("First name").inputValue()).toBe("Augusta");
  await page.getByLabel("First name").press("Enter");
  await page.getByRole("button", { name: /account of Augusta Lovelace/ }).waitFor();
  const [row] = await site.db.select().from(user).where(eq(user.id, owner.userId));
  expect([row?.firstName, row?.name]).toEqual(["Augusta", "Augusta Lovelace"]);
  await page.getByRole("navigation").getByRole("link", { name: "Preferences" }).click();
  await page.waitForURL("**/settings/preferences");
  await page.getByRole("form", { name: "Time" }).getByText("12 hours").click();
  await page.getByRole("navigation").getByRole("link", { name: "Profile" }).click();
  await question.getByRole("button", { name: "Discard changes" }).click();
  await page.waitForURL("**/settings/profile");
});

test.runIf(isThorough)(
  "ORG-4 a picture is cropped in the browser, shown in the bar and the members' list, and removed; an organization's too; others are not asked for it",
  async () => {
    await open("profile");
    const wide =
      "const c = document.createElement('canvas'); c.width = 640; c.height = 300; c.getContext('2d').fillRect(0, 0, 320, 300); c.toDataURL()";
    const drawn = String(await page.evaluate(wide));
    const file = { name: "me.png", mimeType: "image/png", buffer: Buffer.from(drawn.split(",")[1] ?? "", "base64") };
    const chooser = page.getByLabel("Picture file");
    const pictureIn = (place: Locator) => place.locator("img[src^='/api/pictures/']");
    await chooser.setInputFiles({ ...file, name: "me.svg", mimeType: "image/svg+xml", buffer: Buffer.from("<svg/>") });
    await page.getByText("Your browser can't read this file as a picture.").waitFor();
    await expectAccessible(page);
    await chooser.setInputFiles(file);
    await page.getByText("Picture saved").waitFor();
    const inBar = pictureIn(page.getByRole("button", { name: /account of/ }));
    await inBar.waitFor();
    await expect.poll(() => inBar.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(256);
    await expectAccessible(page);
    const [row] = await site.db.select().from(user).where(eq(user.id, owner.userId));
    const served = await owner.visitor.request(row?.image ?? "", {});
    expect(Object.fromEntries(served.headers)).toMatchObject({
      "content-type": "image/webp",
      "x-content-type-options": "nosniff",
      "cache-control": "private, max-age=31536000, immutable",
      "content-security-policy": "default-src 'none'; sandbox",
    });
    const stranger = await seededMember(site.url, site.db);
    const asked = [newVisitor(site.url), stranger.visitor].map((visitor) => visitor.request(row?.image ?? "", {}));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([401, 404]);

    await open("members");
    await pictureIn(page.getByRole("row").filter({ hasText: "You" })).waitFor();
    // Chosen before React has the page.
    const runScripts = await gotoWithoutScripts(page, addressOf("general"));
    await chooser.setInputFiles(file);
    runScripts();
    await page.getByText("Picture saved").waitFor();
    const ofOrganization = pictureIn(page.getByRole("button", { name: /Switch organization/ }));
    await ofOrganization.waitFor();
    await expectAccessible(page);
    await page.getByRole("main").getByRole("button", { name: "Remove" }).press("Enter");
    await ofOrganization.waitFor({ state: "detached" });
    await open("profile");
    await page.getByRole("main").getByRole("button", { name: "Remove" }).press("Enter");
    await inBar.waitFor({ state: "detached" });
  },
);

test.runIf(isThorough)("ORG-4 UI-2 the theme is chosen under Preferences, with the arrow keys", async () => {
  await open("preferences");
  await page.getByRole("radio", { name: "Light" }).check();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
  await expect.poll(() => page.evaluate("localStorage.getItem('theme')")).toBe("dark");
  await expectAccessible(page);
  for (const screen of ["security", "profile", "sessions"].slice(0, rounds(1, 3))) {
    await open(screen);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expectAccessible(page);
  }
  await page.evaluate("localStorage.removeItem('theme')");
});

test.runIf(isThorough)(
  "ORG-4 ORG-10 time zone and clock are chosen under Preferences and hold for times on screen; the change is listed",
  async () => {
    await open("preferences");
    const form = page.getByRole("form", { name: "Time" });
    await form.getByLabel("Time zone").click();
    await page.getByRole("option", { name: "Asia/Tokyo" }).click();
    await form.getByText("12 hours").click();
    await form.getByText("22 Nov 2026, 3:05:00 am GMT+9").waitFor();
    await expectAccessible(page);
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("Preferences saved").waitFor();
    const [row] = await site.db.select().from(user).where(eq(user.id, owner.userId));
    expect([row?.timeZone, row?.hourCycle]).toEqual(["Asia/Tokyo", "h12"]);
    await open("security");
    const changed = page.getByRole("row").filter({ hasText: "Preferences changed" });
    await changed.locator("time").hover();
    await expect.poll(() => changed.locator("time").getAttribute("title")).toMatch(/ [ap]m GMT\+9$/);
    await expectAccessible(page);
  },
);

test.runIf(isThorough)(
  "ORG-4 ORG-7 sessions show their device and address; others are ended one by one or together",
  async () => {
    const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
    for (const device of [agent, agent.replace("X11; Linux x86_64", "Windows NT 10.0"), "curl/8.17.0"]) {
      const headers = { "user-agent": device, "x-forwarded-for": "203.0.113.77" };
      await newVisitor(site.url).submit("/provider/sign-in", { email: address, password: samplePassword }, headers);
    }
    await open("sessions");
    const row = (text: string) => page.getByRole("row").filter({ hasText: text });
    await row("This browser").waitFor();
    await expect.poll(() => row("Firefox on Windows").textContent()).toContain("203.0.113.77");
    await expectAccessible(page);
    await page.getByRole("button", { name: "End the session of curl" }).press("Enter");
    await row("curl").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "End all others" }).click();
    await page.getByText("End 2 other sessions?").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "End sessions" }).click();
    await row("Firefox").first().waitFor({ state: "detached" });
    await row("This browser").waitFor();
  },
);

test.runIf(isThorough)(
  "ORG-4 ORG-7 two-factor sign-in: turned on with an app, asked for at sign-in, replaced by a recovery code, turned off",
  async () => {
    await open("security");
    await page.getByText("No connected apps").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Turn on" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Your password").fill("not my password");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await dialog.getByText("Wrong password. Try again.").waitFor();
    await dialog.getByLabel("Your password").fill(samplePassword);
    await dialog.getByLabel("Your password").press("Enter");
    await dialog.getByRole("img", { name: "QR code for your authenticator app" }).waitFor();
    const key = (await dialog.getByTestId("totp-secret").textContent()) ?? "";
    await expectAccessible(page);
    await dialog.getByLabel("Code", { exact: true }).fill("123");
    await dialog.getByLabel("Code", { exact: true }).press("Enter");
    await dialog.getByText("The code has 6 digits").waitFor();
    await dialog.getByLabel("Code", { exact: true }).fill(await appCode(key, 0));
    await dialog.getByLabel("Code", { exact: true }).press("Enter");
    const codes = dialog.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
    await codes.first().waitFor();
    await expect.poll(() => codes.count()).toBe(10);
    const recoveryCode = (await codes.first().textContent()) ?? "";
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "I've saved them" }).click();
    await page.getByText("10 of 10 recovery codes left").waitFor();

    const elsewhere = await newPage(await browser.newContext());
    const firstStep = async () => {
      await elsewhere.goto(`${site.url}/login?returnTo=%2Faccount`);
      await elsewhere.getByLabel("Email").fill(address);
      await elsewhere.getByLabel("Password").fill(samplePassword);
      await elsewhere.getByRole("button", { name: "Sign in" }).click();
      await elsewhere.getByRole("heading", { name: "Enter your code" }).waitFor();
    };
    await firstStep();
    await expectAccessible(elsewhere);
    await elsewhere.getByLabel("Code").fill(await appCode(key, 1));
    await elsewhere.getByLabel("Code").press("Enter");
    await elsewhere.waitForURL(`${site.url}/account`);
    await elsewhere.context().clearCookies();
    await firstStep();
    await elsewhere.getByRole("link", { name: "Use a recovery code" }).click();
    await elsewhere.getByLabel("Recovery code").fill(recoveryCode);
    await expectAccessible(elsewhere);
    await elsewhere.getByRole("button", { name: "Sign in" }).click();
    await elsewhere.waitForURL(`${site.url}/account`);
    await elsewhere.context().close();

    await open("security");
    await page.getByText("9 of 10 recovery codes left").waitFor();
    await page.getByRole("button", { name: "Turn off" }).click();
    await dialog.getByLabel("Your password").fill(samplePassword);
    await dialog.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("button", { name: "Turn on" }).waitFor();
  },
);

test.runIf(isThorough)(
  "ORG-7 the email is changed with the password, at once without a mail server; one that waits for its link is confirmed or canceled",
  async () => {
    await open("profile");
    await page.getByRole("button", { name: "Change email" }).click();
    const form = page.getByRole("form", { name: "Change your email" });
    await page.getByText("This instance can't send email, so the change applies at once").waitFor();
    await expectAccessible(page);
    const next = `${newId()}@example.com`;
    await form.getByLabel("New email").fill(next);
    await form.getByLabel("Your password").fill("not my password");
    await form.getByLabel("Your password").press("Enter");
    await form.getByText("Wrong password. Try again.").waitFor();
    await form.getByLabel("Your password").fill(samplePassword);
    await form.getByLabel("Your password").press("Enter");
    await page.getByText("Email changed. Other sessions have ended.").waitFor();
    await page.getByRole("main").getByText(next).waitFor();
    address = next;

    // Like with a mail server, which another file tests.
    const newAddress = `${newId()}@example.com`;
    const wait = (token: string) =>
      site.db.insert(verification).values({
        id: newId(),
        identifier: `email-change:${owner.userId}`,
        value: JSON.stringify({ email: newAddress, tokenHash: sha256(token) }),
        expiresAt: new Date(Date.now() + 3_600_000),
      });
    await wait("first");
    await page.reload();
    await page.getByText(`Confirm ${newAddress}`).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Cancel change" }).press("Enter");
    await page.getByText(`Confirm ${newAddress}`).waitFor({ state: "detached" });
    await page.goto(`${site.url}/account/email?token=first`);
    await page.getByRole("heading", { name: "This link doesn't work" }).waitFor();
    await expectAccessible(page);
    await wait("second");
    await page.goto(`${site.url}/account/email?token=second`);
    await page.getByText(`From now on it will be ${newAddress}`).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Change email" }).press("Enter");
    await page.getByRole("heading", { name: "Your email has changed" }).waitFor();
    const [row] = await site.db.select().from(user).where(eq(user.id, owner.userId));
    expect([row?.email, row?.emailVerified]).toEqual([newAddress, true]);
    address = newAddress;
  },
);

test.runIf(isThorough)(
  "ORG-7 AUTH-2 the password is changed, forgotten, and reset with the operator's link",
  async () => {
    await open("security");
    await page.getByLabel("Current password").fill(samplePassword);
    await page.getByLabel("New password").fill("short");
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("Password must be at least 10 characters long").waitFor();
    await page.getByLabel("New password").fill("a better password");
    await page.getByLabel("New password").press("Enter");
    await page.getByText("Password changed. Other sessions have ended.").waitFor();

    const visitor = await newPage(await browser.newContext());
    await visitor.goto(`${site.url}/provider/sign-in`);
    await visitor.getByRole("link", { name: "Forgot your password?" }).click();
    await visitor.getByText("./towpath reset-password you@example.com").waitFor();
    await expectAccessible(visitor);
    const answer = await fetch(`${site.url}/api/v1/password-resets`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.operatorToken}` },
      body: JSON.stringify({ email: address }),
    });
    const { url } = (await answer.json()) as { url: string };
    await visitor.goto(url);
    await visitor.getByLabel("New password").fill("the newest password");
    await expectAccessible(visitor);
    await visitor.getByRole("button", { name: "Change password" }).click();
    await visitor.getByRole("heading", { name: "Your password has changed" }).waitFor();
    // Their other browser shows the ended session, and leads back.
    await page.getByRole("navigation").getByRole("link", { name: "Sessions" }).click();
    await page.getByText("You've been signed out").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${site.url}/provider/sign-in?returnTo=*`);
    await visitor.getByRole("link", { name: "Sign in" }).click();
    await visitor.getByLabel("Email").fill(address);
    await visitor.getByLabel("Password").fill("the newest password");
    await visitor.getByRole("button", { name: "Sign in" }).click();
    await visitor.waitForURL(new RegExp(`/${owner.organization.slug}/`));
    await visitor.context().close();
  },
);
