export { decideForkPullRequest } from "./decide-fork-pull-request.ts";
export { decisionSchema } from "./fork-pull-request.schema.ts";
export { type ForkPullRequestView, forkPullRequestSchema, listForkPullRequests } from "./list-fork-pull-requests.ts";
