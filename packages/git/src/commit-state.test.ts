import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { CommitState, StatusHook } from "@towpath/core/delivery/report";
import { createAddressPolicy } from "@towpath/egress";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createStatePoster } from "./commit-state.ts";

// A host that speaks the documented calls of each kind.
type Seen = { readonly call: string; readonly token: string | undefined; readonly body: unknown };
let seen: Seen[];
let answer: { readonly status: number; readonly body: string; readonly location?: string };
let url: string;
const server = createServer(async (request, response) => {
  const { method, url: path, headers } = request;
  const token = headers.authorization ?? (headers["private-token"] as string | undefined);
  seen.push({ call: `${method} ${path}`, token, body: JSON.parse(await text(request)) });
  if (path?.startsWith("/acme/api/v1/repos/old/")) {
    response.writeHead(301, { location: path.replace("/old/", "/new/") }).end();
    return;
  }
  response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location });
  response.end(answer.body);
});
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/acme/tools/echo.git`;
});
beforeEach(() => {
  seen = [];
  answer = { status: 201, body: "{}" };
});
afterAll(() => void server.close());

const post = createStatePoster({ policy: createAddressPolicy(["127.0.0.1/32"]) });
const sha = "a".repeat(40);
const state: CommitState = {
  sha,
  branch: "main",
  name: "towpath/echo",
  state: "failure",
  description: "No server was found",
  buildUrl: "https://towpath.example/acme/echo/build-logs/1",
};
const hook = (kind: StatusHook["kind"]): StatusHook => ({ kind, url, token: "s3cret" });
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: { code?: string; message: string }) => ({ code: error.code, message: error.message }),
  );

test.each([
  [
    "gitlab",
    `POST /api/v4/projects/acme%2Ftools%2Fecho/statuses/${sha}`,
    "s3cret",
    { state: "failed", name: "towpath/echo", target_url: state.buildUrl, ref: "main" },
  ],
  [
    "gitea",
    // A Gitea below a path of its host.
    `POST /acme/api/v1/repos/tools/echo/statuses/${sha}`,
    "token s3cret",
    { state: "failure", context: "towpath/echo", target_url: state.buildUrl },
  ],
  [
    "github",
    `POST /api/v3/repos/acme/tools/echo/statuses/${sha}`,
    "Bearer s3cret",
    { state: "failure", context: "towpath/echo", target_url: state.buildUrl },
  ],
  [
    "bitbucket",
    `POST /rest/build-status/1.0/commits/${sha}`,
    "Bearer s3cret",
    { state: "FAILED", key: "towpath/echo", url: state.buildUrl },
  ],
] as const)("SRC-2 %s gets the state of a build by its documented call", async (kind, call, token, body) => {
  await post(hook(kind), state);
  expect(seen).toEqual([{ call, token, body: expect.objectContaining({ ...body, description: state.description }) }]);
});

test("SRC-2 github.com and bitbucket.org get it at their API hosts, and no host in a private network gets it at all", async () => {
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return [{ address: "10.0.0.1", family: 4 }];
  };
  const strict = createStatePoster({ policy: createAddressPolicy([]), resolve });
  for (const [kind, host] of [
    ["github", "github.com"],
    ["bitbucket", "bitbucket.org"],
    ["gitlab", "gitlab.example"],
  ] as const) {
    const refused = await refusal(strict({ kind, url: `ssh://git@${host}/acme/echo`, token: "s3cret" }, state));
    expect(refused).toEqual({ code: "conflict", message: expect.stringMatching(/not a host on the public internet/) });
  }
  expect(asked).toEqual(["api.github.com", "api.bitbucket.org", "gitlab.example"]);
});

test("SRC-2 permanent refusals of a host differ from temporary ones, and a token is sent to no other host", async () => {
  const posted = async (status: number, body = "", kind: StatusHook["kind"] = "gitlab", location?: string) => {
    answer = { status, body, ...(location !== undefined && { location }) };
    return refusal(post(hook(kind), state));
  };
  expect(await posted(401)).toEqual({ code: "conflict", message: expect.stringMatching(/refuses the token/) });
  expect(await posted(404)).toEqual({ code: "conflict", message: expect.stringMatching(/a GitLab host/) });
  expect(await posted(422)).toEqual({ code: "conflict", message: expect.stringMatching(/status 422/) });
  expect(await posted(302, "", "gitea", "http://127.0.0.1:9/")).toMatchObject({ code: "conflict" });
  expect(await posted(429)).toMatchObject({ code: "upstream_unavailable" });
  expect(await posted(503)).toMatchObject({ code: "upstream_unavailable" });
  // GitLab's answer to a state that it has already.
  const known = JSON.stringify({ message: "Cannot transition status via :enqueue from :pending" });
  expect(await posted(400, known)).toBeNull();
  expect(await posted(400, known, "gitea")).toMatchObject({ code: "conflict" });
});

test("SRC-2 where the pages of a repository that is read by SSH are elsewhere, that is named with what to do", async () => {
  const ssh = { kind: "gitea", url: "ssh://git@127.0.0.1:2222/acme/echo.git", token: "s3cret" } as const;
  expect(await refusal(post(ssh, state))).toEqual({
    code: "upstream_unavailable",
    message: expect.stringMatching(
      /so its states go to https:\/\/127\.0\.0\.1\. .* change the source to the https URL/,
    ),
  });
});

test("SRC-2 a state goes to where a repository has moved at its host, as Gitea and GitHub answer for an old name", async () => {
  await post({ ...hook("gitea"), url: url.replace("/tools/", "/old/") }, state);
  expect(seen.map(({ call }) => call)).toEqual([
    `POST /acme/api/v1/repos/old/echo/statuses/${sha}`,
    `POST /acme/api/v1/repos/new/echo/statuses/${sha}`,
  ]);
  expect(seen.map(({ token }) => token)).toEqual(["token s3cret", "token s3cret"]);
  answer = { status: 307, body: "", location: "/acme/api/v1/repos/tools/echo/again" };
  expect(await refusal(post(hook("gitea"), state))).toMatchObject({ code: "conflict" });
});
