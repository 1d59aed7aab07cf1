import { gitHubOperations } from "~/features/github/github-operations.server.ts";
import { callerOperation } from "~/features/session/caller.rest.server.ts";
import { passwordResetOperations } from "~/features/sign-in/password-reset-operation.server.ts";
import { activityOperations } from "~/http/rest/activity.server.ts";
import { buildOperations } from "~/http/rest/builds.server.ts";
import { deployTargetOperations } from "~/http/rest/deploy-target.server.ts";
import type { Operation } from "~/http/rest/operation.server.ts";
import { packageOperations } from "~/http/rest/packages.server.ts";
import { peopleOperations } from "~/http/rest/people.server.ts";
import { projectOperations } from "~/http/rest/projects.server.ts";
import { repositoryOperations } from "~/http/rest/repositories.server.ts";
import { settingOperations } from "~/http/rest/settings.server.ts";
import { sourceOperations } from "~/http/rest/sources.server.ts";

/**
 * The REST API: what each feature offers in its `*.rest.server.ts`, in the order of the document (OPS-4). Server functions
 * and HTTP routes, such as streams and webhooks, are registered by the framework.
 */
export const restOperations: readonly Operation[] = [
  callerOperation,
  ...deployTargetOperations,
  ...repositoryOperations,
  ...projectOperations,
  ...packageOperations,
  ...sourceOperations,
  ...buildOperations,
  ...settingOperations,
  ...activityOperations,
  ...peopleOperations,
  ...passwordResetOperations,
  ...gitHubOperations,
];
