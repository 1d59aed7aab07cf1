import { parseWebhookPayload } from "@towpath/github";
import { expect, test } from "vitest";
import { changeOf } from "./webhook-process.ts";

const repository = {
  id: 7,
  name: "echo",
  full_name: "acme/echo",
  private: false,
  default_branch: "main",
  html_url: "http://localhost:8090/acme/echo",
  owner: { login: "acme" },
};
const sha = "a".repeat(40);
const zeros = "0".repeat(40);
const push = (more: object) => ({
  ref: "refs/heads/main",
  before: zeros,
  after: sha,
  head_commit: null,
  repository,
  ...more,
});
const side = (id: number | null, ref = "fix/one") => ({
  ref,
  sha,
  repo: id === null ? null : { id, full_name: "someone/echo" },
});
const pull = (action: string, headRepository: number | null) => ({
  action,
  number: 3,
  repository,
  pull_request: {
    id: 1,
    number: 3,
    title: "Fix",
    state: action === "closed" ? "closed" : "open",
    html_url: "http://localhost:8090/acme/echo/pull/3",
    user: { id: 1, login: "ada" },
    head: side(headRepository),
    base: side(7, "main"),
  },
});
const installation = (action: string) => ({
  action,
  installation: { id: 11, account: { id: 1, login: "ada", type: "User" }, repository_selection: "all" },
});

const changed = { kind: "branch-changed", repositoryId: 7, repositoryFullName: "acme/echo" };
const pullRequest = { number: 3, url: "http://localhost:8090/acme/echo/pull/3" };

test.each([
  ["push", push({}), { ...changed, branch: "main", pullRequest: null }],
  ["push", push({ ref: "refs/heads/fix/one" }), { ...changed, branch: "fix/one", pullRequest: null }],
  ["push", push({ ref: "refs/tags/v1" }), { kind: "ignored" }],
  ["push", push({ after: zeros }), { kind: "branch-deleted", repositoryId: 7, branch: "main" }],
  [
    "delete",
    { ref: "fix/one", ref_type: "branch", repository },
    { kind: "branch-deleted", repositoryId: 7, branch: "fix/one" },
  ],
  ["delete", { ref: "v1", ref_type: "tag", repository }, { kind: "ignored" }],
  ["pull_request", pull("opened", 7), { ...changed, branch: "fix/one", pullRequest }],
  ["pull_request", pull("reopened", 7), { ...changed, branch: "fix/one", pullRequest }],
  ["pull_request", pull("labeled", 7), { kind: "ignored" }],
  ["pull_request", pull("closed", 7), { kind: "pull-request-closed", repositoryId: 7, branch: "fix/one", number: 3 }],
  ["pull_request", pull("opened", 8), { kind: "ignored" }],
  ["pull_request", pull("closed", null), { kind: "ignored" }],
  ["installation", installation("deleted"), { kind: "installation-removed", installationId: 11 }],
  ["installation", installation("suspend"), { kind: "ignored" }],
  ["ping", { zen: "x" }, { kind: "ignored" }],
  ["star", { action: "created" }, { kind: "ignored" }],
])("BLD-7 BLD-9 the event %s %# means %j", (event, payload, change) => {
  expect(changeOf(parseWebhookPayload(event, payload))).toEqual(change);
});
