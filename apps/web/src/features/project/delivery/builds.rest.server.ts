import { cancelBuild, getBuild, listBuilds, startBuild, startBuildSchema } from "@towpath/core/delivery/build";
import { listBuildsSchema } from "@towpath/core/delivery/build/schema";
import { makeDeploymentLive, promoteDeployment } from "@towpath/core/delivery/deployment";
import { decideForkPullRequest, decisionSchema, listForkPullRequests } from "@towpath/core/sources/fork-pull-request";
import { z } from "zod";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

const pageSchema = listBuildsSchema.pick({ limit: true, after: true, branch: true });

const graduallySchema = z.object({
  gradually: z
    .enum(["true", "false"])
    .default("false")
    .transform((text) => text === "true"),
});

/** Builds, deployments, and pull requests from forks. */
export const buildOperations: readonly Operation[] = [
  operation("POST /projects/{name}/builds", "startBuild", "build.start", {
    summary: "builds the newest commit of a branch, a commit, or a version of the package",
    body: startBuildSchema.pick({ branch: true, commitSha: true, version: true, reuse: true }),
    answer: answers.startedBuild,
    handle: ({ ctx, project, body }) => {
      const trigger = project.package ? "package" : "cli";
      return startBuild({ ctx, input: { ...body, orgSlug: project.orgSlug, projectName: project.name, trigger } });
    },
  }),
  operation("GET /projects/{name}/builds", "listBuilds", "build.read", {
    summary: "builds, newest first; with `?branch=`, those of a branch",
    query: pageSchema,
    answer: answers.builds,
    handle: ({ ctx, project, query }) =>
      listBuilds({ ctx, input: { orgSlug: project.orgSlug, projectName: project.name, ...query } }),
  }),
  operation("GET /projects/{name}/deployments", "listDeployments", "build.read", {
    summary: "builds that have a deployment, newest first; with `?branch=`, those of a branch",
    query: pageSchema,
    answer: answers.builds,
    handle: ({ ctx, project, query }) =>
      listBuilds({ ctx, input: { orgSlug: project.orgSlug, projectName: project.name, deployed: true, ...query } }),
  }),
  operation("GET /builds/{buildId}", "readBuild", "build.read", {
    summary: "a build with its diagnosis, whose `action` says what ends the failure, and warnings",
    answer: answers.buildOutcome,
    handle: async ({ ctx, params }) => {
      const build = await getBuild({ ctx, input: { buildId: params.buildId } });
      const { diagnosis, warnings } = build;
      return { build, url: build.deployment?.url ?? null, diagnosis, warnings };
    },
  }),
  operation("POST /builds/{buildId}/cancel", "cancelBuild", "build.start", {
    summary: "ends a build that waits or runs",
    answer: answers.build,
    handle: async ({ ctx, params }) => ({ build: await cancelBuild({ ctx, input: { buildId: params.buildId } }) }),
  }),
  operation("POST /deployments/{deploymentId}/live", "makeDeploymentLive", "build.start", {
    summary:
      "makes an earlier deployment of its branch live once its server answers, without a build; with `?gradually=true`, for a share of new sessions first",
    query: graduallySchema,
    answer: answers.liveDeployment,
    handle: ({ ctx, params, query }) =>
      makeDeploymentLive({ ctx, input: { deploymentId: params.deploymentId, gradually: query.gradually } }),
  }),
  operation("POST /deployments/{deploymentId}/promote", "promoteDeployment", "build.start", {
    summary:
      "puts a preview into production with production's variables, without building it again; with `?gradually=true`, for a share of new sessions first",
    query: graduallySchema,
    answer: answers.build,
    handle: async ({ ctx, params, query }) => ({
      build: await promoteDeployment({
        ctx,
        input: { deploymentId: params.deploymentId, gradually: query.gradually },
      }),
    }),
  }),
  operation("GET /projects/{name}/fork-pull-requests", "listForkPullRequests", "project.read", {
    summary: "open pull requests from forks, and whether their newest commit waits for approval",
    answer: answers.forkPullRequests,
    handle: async ({ ctx, project }) => ({
      data: await listForkPullRequests({ ctx, input: { orgSlug: project.orgSlug, projectName: project.name } }),
    }),
  }),
  operation("POST /projects/{name}/fork-pull-requests/{number}", "decideForkPullRequest", "build.approve", {
    summary: "approves or declines a commit of a pull request from a fork",
    body: decisionSchema.omit({ number: true }),
    answer: answers.decision,
    handle: ({ ctx, params, project, body }) => {
      const { orgSlug, name: projectName } = project;
      return decideForkPullRequest({ ctx, input: { orgSlug, projectName, number: params.number, ...body } });
    },
  }),
];
