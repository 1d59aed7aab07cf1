import { expect, test } from "vitest";
import { anonymous } from "../police/credentials.ts";
import { headersForClient, headersForServer } from "./headers.ts";

const ours = ["x-forwarded-for", "203.0.113.9", "x-forwarded-proto", "https", "x-forwarded-host", "a.example.com"];

test("GW-4 what a client says about addresses never reaches a server, whatever its spelling", () => {
  const said = [
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
  expect(headersForServer([...said, ...kept], anonymous, ours)).toEqual([...kept, ...ours]);
});

test("GW-4 a Connection header cannot take the gateway's own headers away", () => {
  const raw = ["Connection", "X-Forwarded-For, x-forwarded-proto, X-Hop", "X-Hop", "1", "Accept", "*/*"];
  expect(headersForServer(raw, anonymous, ours)).toEqual(["Accept", "*/*", ...ours]);
});

test("GW-4 cookies of the dashboard and of the local forge stay with them, in both directions", () => {
  const cookie = "theirs=1; towpath.session_token=a; forge_session=b; __Host-forge_state=c; my_forge_x=2";
  expect(headersForServer(["Cookie", cookie], anonymous, [])).toEqual(["Cookie", "theirs=1; my_forge_x=2"]);
  expect(headersForServer(["cookie", "forge_session=b"], anonymous, [])).toEqual([]);
  const sent = ["forge_session=evil; Path=/", "Forge_State=evil", "__Secure-towpath.x=evil", "theirs=1"];
  expect(
    headersForClient(
      sent.flatMap((value) => ["Set-Cookie", value]),
      [],
    ),
  ).toEqual(["Set-Cookie", "theirs=1"]);
});
