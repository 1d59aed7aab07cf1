import { approveDeployment, rejectDeployment } from "@towpath/core/delivery/deployment";
import { changeRelease, getReleasePolicy, saveReleasePolicy } from "@towpath/core/delivery/gradual-release";
import { changePolicySchema, changeReleaseSchema } from "@towpath/core/delivery/gradual-release/schema";
import { showRelease, withFigures } from "~/features/project/delivery/release.server.ts";
import { answers } from "~/features/shared/answers/answers.server.ts";
import { type Operation, operation } from "~/http/rest/operation.server.ts";

/** Gradual releases, and approvals of deployments to production (CAP-8). */
export const releaseOperations: readonly Operation[] = [
  operation("GET /projects/{name}/release", "readRelease", "project.read", {
    summary: "the newest gradual release, with both versions' figures in the current step while it runs",
    answer: answers.release,
    handle: ({ ctx, project }) => showRelease(ctx, project.id),
  }),
  operation("POST /projects/{name}/release", "changeRelease", "build.start", {
    summary: "moves the release that runs: `next` step, `finish` now, or `back`",
    body: changeReleaseSchema,
    answer: answers.release,
    handle: async ({ ctx, project, body }) => {
      const { orgSlug, name: projectName } = project;
      return withFigures(project.id, await changeRelease({ ctx, input: { ...body, orgSlug, projectName } }));
    },
  }),
  operation("GET /projects/{name}/release-policy", "readReleasePolicy", "project.read", {
    summary: "whether pushes are released gradually, in which band, and who approves deployments to production",
    answer: answers.releasePolicy,
    handle: ({ ctx, project }) => getReleasePolicy({ ctx, input: { projectId: project.id } }),
  }),
  operation("PATCH /projects/{name}/release-policy", "saveReleasePolicy", "project.update", {
    summary: "changes what is given of it",
    body: changePolicySchema,
    answer: answers.releasePolicy,
    handle: ({ ctx, project, body }) => saveReleasePolicy({ ctx, input: { ...body, projectId: project.id } }),
  }),
  operation("POST /deployments/{deploymentId}/approve", "approveDeployment", "build.start", {
    summary: "approves a deployment to production that waits; it goes live once its server answers",
    answer: answers.liveDeployment,
    handle: ({ ctx, params }) => approveDeployment({ ctx, input: { deploymentId: params.deploymentId } }),
  }),
  operation("POST /deployments/{deploymentId}/reject", "rejectDeployment", "build.start", {
    summary: "rejects one; what is live stays",
    answer: answers.liveDeployment,
    handle: ({ ctx, params }) => rejectDeployment({ ctx, input: { deploymentId: params.deploymentId } }),
  }),
];
