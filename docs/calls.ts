// Reads docs/calls.md, and says which calls the specification (section 7) makes.

/** A row of the table in docs/calls.md. */
export type Call = {
  readonly call: string;
  readonly method: string;
  /** A server function as `file.function`, or the path of a route, such as `/login`. */
  readonly target: string;
  readonly permission: string;
  /** The title of a test. */
  readonly test: string;
};

/** Rows of the table. `problems` names each line that looks like a row and isn't one. */
export function parseCalls(markdown: string): {
  readonly calls: readonly Call[];
  readonly problems: readonly string[];
} {
  const calls: Call[] = [];
  const problems: string[] = [];
  for (const [at, line] of markdown.split("\n").entries()) {
    if (!line.startsWith("| ") || line.startsWith("| call |")) continue;
    const cells = /^\| ([^|]+) \| (GET|POST) \| `([^`|]+)` \| `([^`|]+)` \| (\S[^|]*) \|$/.exec(line);
    if (!cells) problems.push(`Line ${at + 1}: write "| call | GET or POST | \`target\` | \`permission\` | test |".`);
    else {
      const [, call = "", method = "", target = "", permission = "", test = ""] = cells;
      calls.push({ call, method, target, permission, test });
    }
  }
  return { calls, problems };
}

type Method = "GET" | "POST" | "either";

/** The calls of the specification with the method that it says, in its order. */
export const specifiedCalls: Readonly<Record<string, Method>> = {
  "get sign-in URL": "either",
  "get sign-up URL": "either",
  "authorization URL": "either",
  "sign out": "POST",
  "get current auth": "GET",
  "get session role and permissions": "either",
  "sync organization session": "either",
  "switch organization": "POST",
  "get widget token": "POST",
  "get profile": "GET",
  "get registry data": "GET",
  "check project name availability": "POST",
  "get projects for user": "POST",
  "get projects": "POST",
  "get projects by organization": "GET",
  "get project": "POST",
  "get project with auth": "GET",
  "create project": "POST",
  "update project": "POST",
  "create external server": "POST",
  "delete project": "POST",
  "check project access": "GET",
  "organization access check": "GET",
  "create secret": "POST",
  "update secret": "POST",
  "decrypt secret": "POST",
  "delete secret": "POST",
  "project secrets": "GET",
  "installations of a GitHub user": "GET",
  "installations of an organization": "GET",
  "repositories of a user": "POST",
  "installation repositories": "POST",
  "app config": "GET",
  "user OAuth URL": "POST",
  "clone quickstart repository": "POST",
  "verify file exists": "POST",
  "store temporary token": "POST",
  "retrieve temporary token": "GET",
  "fetch branch and repository info": "POST",
  "exchange code for token": "POST",
  "get project admin JWT": "POST",
  "clear admin JWT cache": "POST",
  "admin JWT cache stats": "GET",
  "create API key": "POST",
  "revoke API key": "POST",
  "delete API key": "POST",
  "organization API keys": "GET",
  "personal API keys": "GET",
  builds: "GET",
  "dispatch build": "POST",
  "build by id": "GET",
  "redeploy build": "POST",
  "tools from manifest": "GET",
  "resources from manifest": "GET",
  "templates from manifest": "GET",
  "prompts from manifest": "POST",
  "last successful build": "POST",
  "suggested questions": "POST",
  "branches with deployments": "POST",
  "build by deployment": "POST",
  "last successful build by branch": "POST",
  "most recent deployment": "POST",
  "query logs": "GET",
  "log stats": "GET",
  sessions: "GET",
  "sessions timeseries": "GET",
  "sessions stats": "GET",
  "session usage": "GET",
  users: "GET",
  "users timeseries": "GET",
  "users stats": "GET",
  "user sessions": "GET",
  prompts: "GET",
  "prompt stats": "GET",
  resources: "GET",
  "resource stats": "GET",
  "resource templates": "GET",
  "resource template stats": "GET",
  tools: "GET",
  "tool stats": "GET",
  "user profiles by organization": "POST",
  "user profiles by ids": "POST",
};
