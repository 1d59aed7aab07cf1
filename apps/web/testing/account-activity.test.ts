import { expect, test } from "vitest";
import { appCode, keyIn } from "./authenticator.ts";
import { sharedSite } from "./site.ts";
import { answerOf, callServerFunction, newVisitor, samplePassword, signedUpVisitor, type Visitor } from "./visitor.ts";

const site = sharedSite();
const email = () => `${crypto.randomUUID()}@example.com`;

type Entry = { readonly action: string; readonly ipAddress: string | null; readonly byOperator: boolean };
const activityOf = async (visitor: Visitor) =>
  (await answerOf(callServerFunction(visitor, "account.getActivity", "GET", undefined))) as readonly Entry[];

async function signedIn(address: string, password: string): Promise<Visitor> {
  const visitor = newVisitor(site.url);
  await visitor.submit("/provider/sign-in", { email: address, password });
  return visitor;
}

test("ORG-7 ORG-10 each change of an account, by its person and by the operator, is listed with its address for that person, and for nobody else", async () => {
  const [first, address] = [email(), email()];
  const [person, other] = [await signedUpVisitor(site.url, first), await signedUpVisitor(site.url)];
  const change = (name: string, data: object = {}) =>
    answerOf(callServerFunction(person, `account.${name}`, "POST", data));
  const password = samplePassword;
  await change("saveProfile", { firstName: "Augusta", lastName: "King" });
  await change("savePreferences", { timeZone: "Asia/Tokyo", hourCycle: "h12" });
  const { uri } = (await change("beginTwoFactor", { password })) as { readonly uri: string };
  await change("confirmTwoFactor", { code: await appCode(keyIn(uri), 0) });
  await change("renewRecoveryCodes", { password });
  await change("endTwoFactor", { password });
  await signedIn(first, password);
  await change("endOtherSessions");
  await change("requestEmailChange", { email: address, password });
  const next = "another good password";
  await change("changePassword", { current: password, next });
  const reset = await fetch(`${site.url}/api/v1/password-resets`, {
    method: "POST",
    headers: { authorization: `Bearer ${site.operatorToken}` },
    body: JSON.stringify({ email: address }),
  });
  const { url } = (await reset.json()) as { readonly url: string };
  await newVisitor(site.url).submit(url.slice(site.url.length), { password: "a third password" });

  const listed = await activityOf(await signedIn(address, "a third password"));
  const loopback = expect.stringMatching(/^(127\.0\.0\.1|::1|::ffff:127\.0\.0\.1)$/);
  const own = { byOperator: false, ipAddress: loopback };
  expect(listed.toReversed()).toMatchObject([
    { action: "account.update", ...own },
    { action: "account.preferences", ...own },
    { action: "account.two_factor_on", ...own },
    { action: "account.recovery_codes", ...own },
    { action: "account.two_factor_off", ...own },
    { action: "account.session_end", ...own },
    { action: "account.email_change", ...own },
    { action: "account.password_change", ...own },
    { action: "account.reset_requested", byOperator: true },
    { action: "account.password_reset", ...own },
  ]);
  expect(await activityOf(other)).toEqual([]);
});
