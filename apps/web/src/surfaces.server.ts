import { callerValueOperations } from "~/features/account/caller-values/caller-values.rest.server.ts";
import { passwordResetOperations } from "~/features/account/sign-in/password-reset.rest.server.ts";
import { replayOperations } from "~/features/inspector/replay/replay.rest.server.ts";
import { packageOperations } from "~/features/onboarding/package/packages.rest.server.ts";
import { deployTargetOperations } from "~/features/onboarding/source/deploy-target.rest.server.ts";
import { repositoryOperations } from "~/features/onboarding/source/repositories.rest.server.ts";
import { sourceOperations } from "~/features/onboarding/source/sources.rest.server.ts";
import { alertOperations } from "~/features/organization/alerts/alerts.rest.server.ts";
import { gitHubOperations } from "~/features/organization/github/github.rest.server.ts";
import { instanceOperation } from "~/features/organization/instance/instance.rest.server.ts";
import { peopleOperations } from "~/features/organization/members/members.rest.server.ts";
import { codeOperations } from "~/features/project/code/code.rest.server.ts";
import { buildOperations } from "~/features/project/delivery/builds.rest.server.ts";
import { errorOperations } from "~/features/project/errors/errors.rest.server.ts";
import { exportOperation } from "~/features/project/export/export.rest.server.ts";
import { releaseOperations } from "~/features/project/release/releases.rest.server.ts";
import { activityOperations } from "~/features/project/request-log/activity.rest.server.ts";
import { domainOperations } from "~/features/project/settings/domains.rest.server.ts";
import { projectOperations } from "~/features/project/settings/projects.rest.server.ts";
import { settingOperations } from "~/features/project/settings/settings.rest.server.ts";
import { callerOperation } from "~/features/shared/session/caller.rest.server.ts";
import type { Operation } from "~/http/rest/operation.server.ts";

/**
 * The REST API: the operations in each feature's `*.rest.server.ts`, in the order of the document (OPS-4). The
 * framework registers server functions and HTTP routes, such as streams and webhooks.
 */
export const restOperations: readonly Operation[] = [
  callerOperation,
  instanceOperation,
  ...deployTargetOperations,
  ...repositoryOperations,
  ...projectOperations,
  exportOperation,
  ...packageOperations,
  ...sourceOperations,
  ...codeOperations,
  ...buildOperations,
  ...replayOperations,
  ...releaseOperations,
  ...settingOperations,
  ...callerValueOperations,
  ...domainOperations,
  ...activityOperations,
  ...errorOperations,
  ...peopleOperations,
  ...alertOperations,
  ...passwordResetOperations,
  ...gitHubOperations,
];
