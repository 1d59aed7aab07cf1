import { createServer, request as httpRequest } from "node:http";
import { networkList } from "@towpath/egress";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientAddress } from "../policy/client-address.ts";
import { anonymous } from "../policy/credentials.ts";
import { parseServerUrl } from "../route/server-address.ts";
import type { Site } from "./cookies.ts";
import { forwardedHeaders, headersForClient, headersForServer } from "./headers.ts";

const own: Site = { form: "host", host: "weather.example.com" };
const shared: Site = { form: "path", label: "weather", isMcp: true, cookiesSent: undefined };
const ours = ["x-forwarded-for", "203.0.113.9", "x-forwarded-proto", "https", "x-forwarded-host", "a.example.com"];

test("GW-4 address headers of a client never reach a server, in any spelling", () => {
  const forged = [
    "X-Forwarded-For",
    "6.6.6.6",
    "x-forwarded-for",
    "6.6.6.7",
    "X-Forwarded-Proto",
    "gopher",
    "X-FORWARDED-HOST",
    "evil.example",
    "X-Forwarded-Port",
    "1",
    "X-Forwarded-Prefix",
    "/evil",
    "X_Forwarded_For",
    "6.6.6.8",
    "Forwarded",
    "for=6.6.6.9;proto=gopher",
    "X-Real-IP",
    "6.6.6.10",
  ];
  const kept = ["X-Forward", "a", "Forward", "b", "x-other", "c"];
  expect(
    headersForServer([...forged, ...kept], { principal: anonymous, assertion: null, forwarded: ours, site: own }),
  ).toEqual([...kept, ...ours]);
});

test("GW-4 a Connection header cannot remove the gateway's own headers", () => {
  const raw = ["Connection", "X-Forwarded-For, x-forwarded-proto, X-Hop", "X-Hop", "1", "Accept", "*/*"];
  expect(headersForServer(raw, { principal: anonymous, assertion: null, forwarded: ours, site: own })).toEqual([
    "Accept",
    "*/*",
    ...ours,
  ]);
});

const toServer = (cookie: string, site: Site) =>
  headersForServer(["Cookie", cookie], { principal: anonymous, assertion: null, forwarded: [], site });
const toClient = (headers: string[], site: Site) => {
  const passed = headersForClient(headers, { requestId: "r", extra: [], site });
  expect(passed.splice(passed.indexOf("towpath-request-id"), 2)).toEqual(["towpath-request-id", "r"]);
  return passed;
};
/** The Set-Cookie headers that a browser gets. */
const cookiesSet = (values: string[], site: Site) =>
  toClient(["Content-Type", "application/json", ...values.flatMap((value) => ["Set-Cookie", value])], site).filter(
    (_, at, all) => at % 2 === 1 && all[at - 1] === "Set-Cookie",
  );

test("GW-4 cookies of the dashboard and of the local forge stay with them, in both directions", () => {
  const cookie = "theirs=1; towpath.session_token=a; forge_session=b; __Host-forge_state=c; my_forge_x=2";
  expect(toServer(cookie, own)).toEqual(["Cookie", "theirs=1; my_forge_x=2"]);
  expect(toServer("forge_session=b", own)).toEqual([]);
  const sent = ["forge_session=evil; Path=/", "Forge_State=evil", "__Secure-towpath.x=evil", "theirs=1"];
  expect(cookiesSet(sent, own)).toEqual(["theirs=1"]);
});

test("GW-4 on a shared host a server's cookies carry its label and path, and it receives no others", () => {
  const set = [
    "session=1; Path=/; HttpOnly; Secure; SameSite=Lax",
    "wide=2; Domain=localhost; path=/other; Max-Age=5",
    "__Host-strict=3; Path=/; Secure",
    "bare=4",
  ];
  expect(cookiesSet(set, shared)).toEqual([
    "~weather~session=1; HttpOnly; Secure; SameSite=Lax; Path=/weather",
    "~weather~wide=2; Max-Age=5; Path=/weather",
    "~weather~__Host-strict=3; Secure; Path=/weather",
    "~weather~bare=4; Path=/weather",
  ]);
  const jar =
    "~weather~session=1; towpath.session_token=a; ~weather2~session=b; ~weather~__Host-strict=3; session=planted; x";
  expect(toServer(jar, shared)).toEqual(["Cookie", "session=1; __Host-strict=3"]);
  expect(toServer("towpath.session_token=a; ~other~a=b", shared)).toEqual([]);
});

test("GW-4 cookies without a name are dropped, and one server cannot displace the others' cookies", () => {
  const nameless = ["=towpath.session_token=evil", " =x", "towpath.session_token", "evil; Path=/", "", "ok=1"];
  expect(cookiesSet(nameless, own)).toEqual(["ok=1"]);
  expect(cookiesSet(nameless, shared)).toEqual(["~weather~ok=1; Path=/weather"]);
  const many = Array.from({ length: 300 }, (_, at) => `c${at}=1`);
  expect(cookiesSet(many, shared)).toHaveLength(20);
  // Cookies that the browser has count, and may still be changed.
  const full = { ...shared, cookiesSent: Array.from({ length: 20 }, (_, at) => `~weather~c${at}=1`).join("; ") };
  expect(cookiesSet(["c3=2", "new=1"], full)).toEqual(["~weather~c3=2; Path=/weather"]);
});

test("GW-4 on a host of its own a server sets cookies for that host only", () => {
  const sent = [
    "a=1; Domain=example.com; Path=/x",
    "b=2; Domain=.weather.example.com",
    "c=3; domain=EXAMPLE.com; Secure",
  ];
  expect(cookiesSet(sent, own)).toEqual(["a=1; Path=/x", "b=2; Domain=.weather.example.com", "c=3; Secure"]);
});

test("GW-4 on a shared host a server sets no headers for the whole host, and its pages are sandboxed", () => {
  const wide = ["Clear-Site-Data", '"*"', "Service-Worker-Allowed", "/", "Alt-Svc", "h2=:1", "X-Kept", "1"];
  const policy = [
    "content-security-policy",
    "sandbox allow-forms allow-scripts allow-popups allow-popups-to-escape-sandbox allow-top-navigation-to-custom-protocols",
  ];
  const html = ["Content-Type", "text/html"];
  const page = { ...shared, isMcp: false };
  expect(toClient([...wide, ...html], page)).toEqual(["X-Kept", "1", ...html, ...policy]);
  expect(toClient(["Content-Type", "application/json"], page)).toContain("content-security-policy");
  // Also at the endpoint, except for MCP's content types.
  expect(toClient(html, shared)).toEqual([...html, ...policy]);
  expect(toClient([], shared)).toEqual(policy);
  for (const type of ["application/json", "text/event-stream; charset=utf-8"]) {
    expect(toClient(["Content-Type", type], shared)).toEqual(["Content-Type", type]);
  }
  expect(toClient([...wide, ...html], own)).toEqual([...wide.slice(2), ...html]);
});

const weather = { label: "weather", domain: null };
let template = "";
let flat: string[] = [];
const server = createServer((request, response) => {
  const address = parseServerUrl(template);
  flat = forwardedHeaders(address, weather, clientAddress(address, request, networkList(["198.51.100.0/24"])));
  response.end();
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => server.close());

/** The client's address and the public origin that a server receives for a request from this machine. */
async function sent(serverUrl: string, forwardedFor?: string): Promise<string[]> {
  template = serverUrl;
  const address = server.address();
  await new Promise<void>((resolve, reject) => {
    const headers = { connection: "close", ...(forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor }) };
    const port = typeof address === "object" ? address?.port : 0;
    httpRequest({ host: "127.0.0.1", port, headers }, (response) => response.resume().on("end", resolve))
      .on("error", reject)
      .end();
  });
  return [flat[1] ?? "", `${flat[3]}://${flat[5]}`];
}

test("GW-4 a server receives its public address, regardless of the Host header", async () => {
  expect((await sent("https://{name}.example.com"))[1]).toBe("https://weather.example.com");
  expect((await sent("http://{name}.localhost:8080"))[1]).toBe("http://weather.localhost:8080");
  expect((await sent("https://mcp.example.com/{name}"))[1]).toBe("https://mcp.example.com");
});

test("GW-4 GW-9 proxies are trusted about their own clients only, and on a loopback gateway none are", async () => {
  expect((await sent("https://{name}.example.com", "6.6.6.6, 203.0.113.9"))[0]).toBe("203.0.113.9");
  // A chain: the one on this machine, and one that is configured.
  expect((await sent("https://{name}.example.com", "6.6.6.6, 2001:db8::7, 198.51.100.3"))[0]).toBe("2001:db8::7");
  expect((await sent("https://{name}.example.com", "evil, 198.51.100.3"))[0]).toBe("198.51.100.3");
  expect((await sent("https://{name}.example.com", "198.51.100.4,198.51.100.3"))[0]).toBe("198.51.100.4");
  expect((await sent("https://{name}.example.com", "203.0.113.9, evil"))[0]).toBe("127.0.0.1");
  expect((await sent("https://{name}.example.com"))[0]).toBe("127.0.0.1");
  expect((await sent("http://localhost:8080/{name}", "6.6.6.6"))[0]).toBe("127.0.0.1");
});
