import { expect, test } from "vitest";
import { deploySearchParameters, setupSearchParameters } from "./deploy-search.ts";

const fields = {
  serverName: "brave-teal-otter",
  defaultBranch: "trunk",
  teamId: "acme",
  entrypoint: "server.py:mcp",
  requirements: "requirements.txt",
  envVariables: ["API_KEY", "REGION"],
  shouldUseAuth: false,
  repoName: "acme/echo",
  owner: "acme",
  repo: "echo",
  isPrivate: true,
  installationId: 7,
};
const progress = { isCreating: true, error: "GitHub is unreachable." };

test("ONB-5 the URL of server-deploy carries each field of a deploy, and no other", () => {
  expect(deploySearchParameters.parse({ ...fields, ...progress, other: 1 })).toEqual(fields);
  expect(deploySearchParameters.parse({})).toEqual({});
});

test("ONB-3 the URL of server-setup carries the same fields, isCreating and error", () => {
  expect(setupSearchParameters.parse({ ...fields, ...progress, other: 1 })).toEqual({ ...fields, ...progress });
  expect(setupSearchParameters.parse({ ...fields, isCreating: "perhaps", error: {} })).toEqual(fields);
});

test.each([
  ["serverName", "x".repeat(65)],
  ["defaultBranch", {}],
  ["teamId", []],
  ["entrypoint", "x".repeat(201)],
  ["requirements", null],
  ["envVariables", "API_KEY"],
  ["shouldUseAuth", "maybe"],
  ["repoName", "x".repeat(256)],
  ["owner", { $ne: 1 }],
  ["repo", "x".repeat(101)],
  ["isPrivate", 1],
  ["installationId", -7],
])("ONB-5 an invalid %s is ignored", (name, value) => {
  expect(deploySearchParameters.parse({ ...fields, [name]: value })).toEqual({ ...fields, [name]: undefined });
});
