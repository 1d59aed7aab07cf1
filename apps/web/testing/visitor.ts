import { newId } from "@towpath/core/ids";
import { type SeededOrganization, seedOrganization } from "@towpath/core/testing";
import type { Database } from "@towpath/db";
import { member, user } from "@towpath/db/schema";
import { eq } from "drizzle-orm";
import { fromCrossJSON, toJSONAsync } from "seroval";

/** An HTTP client that keeps cookies and sends a browser's Sec-Fetch-Site header. */
export type Visitor = {
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Submits a form, from one of the site's own pages unless `headers` override that. */
  submit(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  /** Sends any other request, with the cookies. */
  request(path: string, init: RequestInit): Promise<Response>;
  /** The session cookie. Its name differs between instances. */
  sessionCookie(): { readonly name: string; readonly value: string } | undefined;
};

export function newVisitor(origin: string): Visitor {
  const jar = new Map<string, string>();
  const request = async (path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    if (jar.size > 0) headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(new URL(path, origin), { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";", 1);
      const at = pair.indexOf("=");
      const expired = /max-age=0/i.test(line);
      if (expired) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  };
  return {
    request,
    get: (path, headers) =>
      request(path, { headers: { accept: "text/html", "sec-fetch-site": "same-origin", ...headers } }),
    submit: (path, fields, headers) =>
      request(path, {
        method: "POST",
        body: new URLSearchParams(fields).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", ...headers },
      }),
    sessionCookie: () => {
      const found = [...jar].find(([name]) => name.endsWith(".session_token"));
      return found && { name: found[0], value: found[1] };
    },
  };
}

export const samplePassword = "correct horse battery";

/** A visitor with a new account at the embedded provider. */
export async function signedUpVisitor(origin: string, email = `${crypto.randomUUID()}@example.com`): Promise<Visitor> {
  const visitor = newVisitor(origin);
  const fields = { firstName: "Ada", lastName: "Lovelace", email, password: samplePassword };
  const response = await visitor.submit("/provider/sign-up", fields);
  if (response.status !== 303) throw new Error(`sign-up answered ${response.status}: ${await response.text()}`);
  return visitor;
}

/** Calls a server function over the wire as the browser does. `id` is `file.function`: `session.getProfile`. */
export async function callServerFunction(
  visitor: Visitor,
  id: string,
  method: "GET" | "POST",
  data: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const payload = JSON.stringify(await toJSONAsync({ data }));
  const sent = { "x-tsr-serverFn": "true", accept: "application/json", "sec-fetch-site": "same-origin", ...headers };
  const path = `/_serverFn/${encodeURIComponent(id)}`;
  const response =
    method === "GET"
      ? await visitor.request(`${path}?payload=${encodeURIComponent(payload)}`, { headers: sent })
      : await visitor.request(path, {
          method: "POST",
          body: payload,
          headers: { "content-type": "application/json", ...sent },
        });
  return { status: response.status, text: await response.text() };
}

/** The result of a server function. Throws for a refusal. */
export async function answerOf(call: ReturnType<typeof callServerFunction>): Promise<unknown> {
  const { status, text } = await call;
  if (status !== 200) throw new Error(`the server function answered ${status}: ${text}`);
  return fromCrossJSON<{ readonly result: unknown }>(JSON.parse(text), { refs: new Map() }).result;
}

export type Member = { readonly visitor: Visitor; readonly userId: string; readonly organization: SeededOrganization };

/** A user who owns a new organization with a GitHub installation. */
export async function seededMember(url: string, db: Database): Promise<Member> {
  const email = `${crypto.randomUUID()}@example.com`;
  const visitor = await signedUpVisitor(url, email);
  const [account] = await db.select({ id: user.id }).from(user).where(eq(user.email, email));
  if (!account) throw new Error("the account was not created");
  const organization = await seedOrganization(db);
  await db.insert(member).values({ id: newId(), organizationId: organization.id, userId: account.id, role: "owner" });
  return { visitor, userId: account.id, organization };
}
