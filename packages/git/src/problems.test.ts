import { expect, test } from "vitest";
import { publicProblem } from "./problems.ts";
import { GitFailure } from "./run-git.ts";

const ending = `fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
`;

test.each([
  [
    "Gitea: Cannot find repository: acme/echo\n",
    "not_found",
    /shows no repository at this URL.*the token or key may not/,
  ],
  [
    "Gitea: Deploy Key: 3:Towpath is not authorized to read acme/echo.\n",
    "not_found",
    /the token or key may not read it/,
  ],
  ["ERROR: Repository not found.\n", "not_found", /shows no repository at this URL/],
  ["git@a.example: Permission denied (publickey).\n", "conflict", /refuses the deploy key/],
  [
    "ssh: connect to host a.example port 22: Connection refused\n",
    "upstream_unavailable",
    /broke or could not be made/,
  ],
  ["Connection closed by 192.0.2.1 port 22\n", "upstream_unavailable", /broke or could not be made/],
])("SRC-2 answers of an SSH host are distinguished: %s", (stderr, code, message) => {
  const problem = publicProblem(new GitFailure("failed", ["ls-remote"], `${stderr}${ending}`), "a.example");
  expect(problem).toMatchObject({ code, message: expect.stringMatching(message) });
});
