import { parseWebhookPayload } from "@towpath/github";
import { expect, test } from "vitest";
import { checkActionOf, hintOf } from "./webhook-process.ts";

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

const branch = (name: string, mayBeNew = true) => ({ kind: "branch", repositoryId: 7, branch: name, mayBeNew });
const ignored = { kind: "ignored" };
const installed = { kind: "installation", installationId: 11 };

test.each([
  ["push", push({}), branch("main")],
  ["push", push({ ref: "refs/heads/fix/one" }), branch("fix/one")],
  ["push", push({ ref: "refs/tags/v1" }), ignored],
  ["push", push({ after: zeros }), branch("main", false)],
  ["delete", { ref: "fix/one", ref_type: "branch", repository }, branch("fix/one", false)],
  ["delete", { ref: "v1", ref_type: "tag", repository }, ignored],
  ["pull_request", pull("opened", 7), branch("fix/one")],
  ["pull_request", pull("reopened", 7), branch("fix/one")],
  ["pull_request", pull("labeled", 7), ignored],
  ["pull_request", pull("closed", 7), branch("fix/one", false)],
  ["pull_request", pull("opened", 8), branch("pull:3")],
  ["pull_request", pull("closed", null), branch("pull:3", false)],
  ["repository", { action: "renamed", repository }, { kind: "repository", repositoryId: 7 }],
  ["repository", { action: "edited", repository }, { kind: "repository", repositoryId: 7 }],
  ["installation", installation("deleted"), installed],
  ["installation", installation("suspend"), installed],
  ["installation_repositories", { ...installation("added"), repository_selection: "all" }, installed],
  ["ping", { zen: "x" }, ignored],
  ["star", { action: "created" }, ignored],
])("BLD-7 the event %s %# says: look at %j", (event, payload, hint) => {
  expect(hintOf(parseWebhookPayload(event, payload), 0)).toEqual(hint);
});

test("BLD-8 an action requested at a check run is read from its event, and nothing from others", () => {
  const of = (more: object) =>
    checkActionOf(
      parseWebhookPayload("check_run", {
        check_run: { head_sha: "a".repeat(40), external_id: "b" },
        repository,
        sender: { id: 5, login: "ada" },
        ...more,
      }),
      0,
    );
  const asked = { externalId: "b", commitSha: "a".repeat(40), repositoryId: 7, githubUserId: 5 };
  const press = (identifier: string) => of({ action: "requested_action", requested_action: { identifier } });
  expect(press("cancel")).toEqual({ ...asked, action: "cancel" });
  expect(press("approve")).toEqual({ ...asked, action: "approve" });
  expect(press("rerun")).toEqual({ ...asked, action: "rerun" });
  expect(press("delete")).toBeNull();
  expect(of({ action: "rerequested" })).toEqual({ ...asked, action: "rerun" });
  expect(of({ action: "completed" })).toBeNull();
});

test("GH-5 events of a connection are about its own repositories, installations and people", () => {
  const connection = 2;
  const own = (id: number) => 2 * 2 ** 40 + id;
  const hint = (name: string, payload: object) => hintOf(parseWebhookPayload(name, payload), connection);
  expect(hint("repository", { action: "renamed", repository })).toMatchObject({ repositoryId: own(7) });
  expect(hint("installation", { ...installation("suspend"), repositories: [] })).toMatchObject({
    installationId: own(installation("suspend").installation.id),
  });
  const check = { check_run: { head_sha: "a".repeat(40), external_id: "b" }, repository };
  const event = { ...check, action: "rerequested", sender: { id: 5, login: "ada" } };
  expect(checkActionOf(parseWebhookPayload("check_run", event), connection)).toMatchObject({
    repositoryId: own(7),
    githubUserId: own(5),
  });
});
