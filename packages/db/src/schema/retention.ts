import { accessPolicyRetention } from "./access-policy.ts";
import { alertChannelRetention, alertDeliveryRetention, alertEventRetention, alertRuleRetention } from "./alert.ts";
import { artifactRetention, artifactTagRetention } from "./artifact.ts";
import { auditLogRetention } from "./audit-log.ts";
import { branchRetention } from "./branch.ts";
import { buildRetention } from "./build.ts";
import { buildLogRetention } from "./build-log.ts";
import { callLimitRetention } from "./call-limit.ts";
import { callReplayRetention, sampledCallRetention } from "./call-replay.ts";
import { callerValueRetention } from "./caller-value.ts";
import { chatRetention, chatTurnRetention, chatUsageRetention, suggestedQuestionsRetention } from "./chat.ts";
import { dataKeyRetention, masterKeyRetention } from "./data-key.ts";
import { dataVolumeRetention } from "./data-volume.ts";
import { deploymentRetention } from "./deployment.ts";
import { domainRetention } from "./domain.ts";
import { erasureRetention } from "./erasure.ts";
import { errorGroupRetention } from "./error-group.ts";
import { externalServerRetention } from "./external-server.ts";
import { forkPullRequestRetention } from "./fork-pull-request.ts";
import { formerNameRetention } from "./former-name.ts";
import { gitSourceRetention } from "./git-source.ts";
import { githubCheckRetention, githubConnectionRetention, githubUserRetention } from "./github-connection.ts";
import { githubInstallationRetention } from "./github-installation.ts";
import { branchReportRetention, buildReportRetention, pullRequestCommentRetention } from "./github-report.ts";
import { deploymentApprovalRetention, gradualReleaseRetention, releasePolicyRetention } from "./gradual-release.ts";
import { hostIsolationRetention } from "./host-isolation.ts";
import { hostStorageRetention } from "./host-storage.ts";
import { instanceRetention } from "./instance.ts";
import { jwksRetention } from "./jwks.ts";
import { keptCallRetention, keptResultRetention, taskSupportRetention } from "./kept-call.ts";
import { mailMessageRetention } from "./mail-message.ts";
import { oauthAssertionRetention } from "./oauth-assertion.ts";
import { oauthAuthorizationRetention } from "./oauth-authorization.ts";
import { oauthClientRetention } from "./oauth-client.ts";
import { oauthConsentRetention } from "./oauth-consent.ts";
import { oauthGrantRetention } from "./oauth-grant.ts";
import { oauthRefreshTokenRetention } from "./oauth-refresh-token.ts";
import { apikeyRetention, invitationRetention, memberRetention, organizationRetention } from "./organization.ts";
import { pictureRetention } from "./picture.ts";
import { portalRetention, portalServerRetention } from "./portal.ts";
import { projectRetention } from "./project.ts";
import { recordedAnswersRetention } from "./recorded-answers.ts";
import { repositoryBundlesRetention, repositoryRetention } from "./repository.ts";
import { requestLogRetention } from "./request-log.ts";
import { requestLogRollupRetention } from "./request-log-rollup.ts";
import { requestLogSessionRetention } from "./request-log-session.ts";
import type { RetentionRule } from "./retention-rule.ts";
import { routeRetention } from "./route.ts";
import { defaultViewRetention, savedViewRetention } from "./saved-view.ts";
import { scheduledBackupRetention } from "./scheduled-backup.ts";
import { secretRetention, secretVersionRetention } from "./secret.ts";
import { serverDayRetention } from "./server-day.ts";
import { serverIconRetention } from "./server-icon.ts";
import { serverLogRetention } from "./server-log.ts";
import { signInIssuerRetention } from "./sign-in-issuer.ts";
import { signInStepRetention } from "./sign-in-step.ts";
import {
  accountRetention,
  rateLimitRetention,
  sessionRetention,
  signInAttemptRetention,
  twoFactorRetention,
  userRetention,
  verificationRetention,
} from "./user.ts";
import { webhookDeliveryRetention } from "./webhook-delivery.ts";
import { workloadIdentityRetention } from "./workload-identity.ts";

/** The rule of every table in the schema `public`, by its name. Partitions follow their parent. */
export const retentionRules: Readonly<Record<string, RetentionRule>> = {
  access_policy: accessPolicyRetention,
  account: accountRetention,
  alert_channel: alertChannelRetention,
  alert_delivery: alertDeliveryRetention,
  alert_event: alertEventRetention,
  alert_rule: alertRuleRetention,
  apikey: apikeyRetention,
  artifact: artifactRetention,
  artifact_tag: artifactTagRetention,
  audit_log: auditLogRetention,
  branch: branchRetention,
  branch_report: branchReportRetention,
  build: buildRetention,
  build_log: buildLogRetention,
  build_report: buildReportRetention,
  call_limit: callLimitRetention,
  caller_value: callerValueRetention,
  chat: chatRetention,
  chat_turn: chatTurnRetention,
  chat_usage: chatUsageRetention,
  data_key: dataKeyRetention,
  data_volume: dataVolumeRetention,
  default_view: defaultViewRetention,
  deployment: deploymentRetention,
  deployment_approval: deploymentApprovalRetention,
  domain: domainRetention,
  erasure: erasureRetention,
  ...errorGroupRetention,
  external_server: externalServerRetention,
  fork_pull_request: forkPullRequestRetention,
  former_name: formerNameRetention,
  git_source: gitSourceRetention,
  github_check: githubCheckRetention,
  github_connection: githubConnectionRetention,
  github_installation: githubInstallationRetention,
  github_user: githubUserRetention,
  gradual_release: gradualReleaseRetention,
  host_isolation: hostIsolationRetention,
  host_storage: hostStorageRetention,
  instance: instanceRetention,
  invitation: invitationRetention,
  jwks: jwksRetention,
  call_replay: callReplayRetention,
  sampled_call: sampledCallRetention,
  kept_call: keptCallRetention,
  kept_result: keptResultRetention,
  mail_message: mailMessageRetention,
  master_key: masterKeyRetention,
  member: memberRetention,
  oauth_assertion: oauthAssertionRetention,
  oauth_authorization: oauthAuthorizationRetention,
  oauth_client: oauthClientRetention,
  oauth_consent: oauthConsentRetention,
  oauth_grant: oauthGrantRetention,
  oauth_refresh_token: oauthRefreshTokenRetention,
  organization: organizationRetention,
  picture: pictureRetention,
  portal: portalRetention,
  portal_server: portalServerRetention,
  project: projectRetention,
  pull_request_comment: pullRequestCommentRetention,
  rate_limit: rateLimitRetention,
  recorded_answers: recordedAnswersRetention,
  release_policy: releasePolicyRetention,
  repository: repositoryRetention,
  repository_bundles: repositoryBundlesRetention,
  request_log: requestLogRetention,
  ...requestLogRollupRetention,
  ...requestLogSessionRetention,
  route: routeRetention,
  saved_view: savedViewRetention,
  scheduled_backup: scheduledBackupRetention,
  secret: secretRetention,
  secret_version: secretVersionRetention,
  server_day: serverDayRetention,
  server_icon: serverIconRetention,
  server_log: serverLogRetention,
  session: sessionRetention,
  sign_in_attempt: signInAttemptRetention,
  sign_in_issuer: signInIssuerRetention,
  sign_in_step: signInStepRetention,
  task_support: taskSupportRetention,
  two_factor: twoFactorRetention,
  suggested_questions: suggestedQuestionsRetention,
  user: userRetention,
  verification: verificationRetention,
  webhook_delivery: webhookDeliveryRetention,
  workload_identity: workloadIdentityRetention,
};

export type { RetentionMoment, RetentionPolicy, RetentionRule } from "./retention-rule.ts";
