import type { CommitState, PostState, StatusHook } from "@towpath/core/delivery/report";
import { TowpathError } from "@towpath/core/errors";
import { type AddressPolicy, createCheckedFetch, type ResolveName } from "@towpath/egress";
import { publicProblem, unavailable } from "./problems.ts";

type Request = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: object };

type Place = {
  /** Of the host's web pages and API. */
  readonly origin: string;
  readonly host: string;
  /** Of the repository, without `.git`. */
  readonly path: string;
  /** The same for hosts whose repositories are OWNER/NAME: `home` is the host's own address. */
  readonly owned: { readonly home: string; readonly path: string };
};

type Words = Readonly<Record<CommitState["state"], string>>;
const gitHubWords: Words = { pending: "pending", success: "success", failure: "failure", canceled: "error" };
const gitLabWords: Words = { pending: "pending", success: "success", failure: "failed", canceled: "canceled" };
const bitbucketWords: Words = {
  pending: "INPROGRESS",
  success: "SUCCESSFUL",
  failure: "FAILED",
  canceled: "STOPPED",
};

/** Each as its host documents it. */
const requests: Readonly<Record<StatusHook["kind"], (at: Place, token: string, state: CommitState) => Request>> = {
  // https://docs.gitlab.com/api/commits/#set-the-pipeline-status-of-a-commit
  gitlab: ({ origin, path }, token, { sha, state, name, description, buildUrl, branch }) => ({
    url: `${origin}/api/v4/projects/${encodeURIComponent(path)}/statuses/${sha}`,
    headers: { "private-token": token },
    body: { state: gitLabWords[state], name, description, target_url: buildUrl, ref: branch },
  }),
  // https://docs.gitea.com/api/ (repoCreateStatus), of Forgejo too
  gitea: ({ owned }, token, state) => ({
    url: `${owned.home}/api/v1/repos/${owned.path}/statuses/${state.sha}`,
    headers: { authorization: `token ${token}` },
    body: gitHubBody(state),
  }),
  // https://docs.github.com/rest/commits/statuses
  github: ({ origin, host, path }, token, state) => ({
    url: `${host === "github.com" ? "https://api.github.com" : `${origin}/api/v3`}/repos/${path}/statuses/${state.sha}`,
    headers: { authorization: `Bearer ${token}`, accept: "application/vnd.github+json" },
    body: gitHubBody(state),
  }),
  bitbucket: ({ origin, host, path }, token, { sha, state, name, description, buildUrl }) => ({
    url:
      host === "bitbucket.org"
        ? // https://developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses/
          `https://api.bitbucket.org/2.0/repositories/${path}/commit/${sha}/statuses/build`
        : // Data Center: https://developer.atlassian.com/server/bitbucket/rest/, build status
          `${origin}/rest/build-status/1.0/commits/${sha}`,
    headers: { authorization: `Bearer ${token}` },
    body: { key: name.slice(0, 40), state: bitbucketWords[state], name, description, url: buildUrl },
  }),
};

const gitHubBody = ({ state, name, description, buildUrl }: CommitState) => ({
  state: gitHubWords[state],
  context: name,
  description,
  target_url: buildUrl,
});

const hostNames = { gitlab: "GitLab", gitea: "Gitea", bitbucket: "Bitbucket", github: "GitHub" } as const;
const withinMs = 15_000;
const maxAnswerBytes = 64 * 1024;
const maxMoves = 3;

/** Posts states of builds to Git hosts at allowed addresses. The token is sent to the host's API only. */
export function createStatePoster(options: {
  readonly policy: AddressPolicy;
  readonly resolve?: ResolveName;
}): PostState {
  return async (hook, state) => {
    const at = placeOf(hook.url);
    const { url, headers, body } = requests[hook.kind](at, hook.token, state);
    const checked = createCheckedFetch(options.policy, options.resolve, { returnsRedirects: true });
    try {
      const response = await followMoves(url, (to) =>
        checked.fetch(to, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "user-agent": "towpath",
            accept: "application/json",
            ...headers,
          },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(withinMs),
        }),
      );
      await settle(hook.kind, at.host, response);
    } catch (error) {
      if (error instanceof TowpathError) throw error;
      const problem = publicProblem(error, at.host);
      // A refused address is permanent.
      if (problem instanceof TowpathError && problem.code === "invalid_input") throw refused(problem.message);
      const { message } = problem instanceof TowpathError ? problem : unavailable(`${at.host} broke the connection.`);
      throw new TowpathError("upstream_unavailable", `${message}${placeOfSsh(hook.url, at)}`, { cause: error });
    } finally {
      await checked.close();
    }
  };
}

/** Follows redirects of a renamed repository. The token is sent to no other origin. */
async function followMoves(first: string, request: (url: string) => Promise<Response>): Promise<Response> {
  let url = first;
  for (let moves = 0; ; moves += 1) {
    const response = await request(url);
    const location = response.headers.get("location") ?? "";
    const to = URL.canParse(location, url) ? new URL(location, url) : null;
    const isMove = /^30[178]$/.test(String(response.status)) && to?.origin === new URL(first).origin;
    if (!isMove || moves === maxMoves) return response;
    await response.body?.cancel();
    url = to.href;
  }
}

/** Repositories that are read by SSH have their web pages by https, at the same path. */
function placeOf(text: string): Place {
  const url = new URL(text);
  const origin = url.protocol === "ssh:" ? `https://${url.hostname}` : url.origin;
  const path = url.pathname.replace(/^\/|\.git$|\/$/g, "");
  const parts = path.split("/");
  const owned = { home: [origin, ...parts.slice(0, -2)].join("/"), path: parts.slice(-2).join("/") };
  return { origin, host: new URL(origin).host, path, owned };
}

/** For hosts whose API is elsewhere. */
const placeOfSsh = (url: string, { origin }: Place): string =>
  url.startsWith("ssh:")
    ? ` The repository is read by SSH, so its states go to ${origin}. If the host's web pages are elsewhere, change the source to the https URL there.`
    : "";

async function settle(kind: StatusHook["kind"], host: string, response: Response): Promise<void> {
  const { status } = response;
  const text = await startOf(response);
  if (status >= 200 && status < 300) return;
  // GitLab has the state already.
  if (kind === "gitlab" && status === 400 && /cannot transition status/i.test(text)) return;
  if (status === 429 || status >= 500)
    throw new TowpathError(
      "upstream_unavailable",
      `${host} answered with status ${status} to a build's state, which is posted again later.`,
    );
  if (status === 401 || status === 403)
    throw refused(`${host} refuses the token for build states: it has expired, was revoked, or lacks the right.`);
  if (status === 404)
    throw refused(
      `${host} knows no such repository or commit, or the token may not see it. Check that it is a ${hostNames[kind]} host.`,
    );
  throw refused(`${host} doesn't take build states as ${hostNames[kind]} does (status ${status}).`);
}

const refused = (message: string) => new TowpathError("conflict", message);

async function startOf(response: Response): Promise<string> {
  let text = "";
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString("latin1");
    if (text.length > maxAnswerBytes) break;
  }
  return text;
}
