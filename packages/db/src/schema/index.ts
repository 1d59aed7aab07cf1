export { accessPolicy } from "./access-policy.ts";
export { alertChannel, alertDelivery, alertEvent, alertRule } from "./alert.ts";
export { artifact, artifactTag } from "./artifact.ts";
export { auditLog } from "./audit-log.ts";
export { branch } from "./branch.ts";
export { build } from "./build.ts";
export { buildLog } from "./build-log.ts";
export { callLimit } from "./call-limit.ts";
export { callReplay, sampledCall } from "./call-replay.ts";
export { callerValue } from "./caller-value.ts";
export { chat, chatTurn, chatUsage, suggestedQuestions } from "./chat.ts";
export { dataKey, masterKey } from "./data-key.ts";
export { dataVolume } from "./data-volume.ts";
export { deployment } from "./deployment.ts";
export { domain } from "./domain.ts";
export { erasure } from "./erasure.ts";
export { type ErrorSample, type ErrorShare, errorGroup, errorGroupHour, requestLogFailure } from "./error-group.ts";
export { externalServer } from "./external-server.ts";
export { forkPullRequest } from "./fork-pull-request.ts";
export { formerName } from "./former-name.ts";
export { gitSource } from "./git-source.ts";
export { githubCheck, githubConnection, githubUser } from "./github-connection.ts";
export { githubInstallation } from "./github-installation.ts";
export { branchReport, buildReport, pullRequestComment } from "./github-report.ts";
export { deploymentApproval, gradualRelease, releasePolicy } from "./gradual-release.ts";
export { hostIsolation } from "./host-isolation.ts";
export { hostStorage } from "./host-storage.ts";
export { instance } from "./instance.ts";
export { jwks } from "./jwks.ts";
export { keptCall, keptResult, taskSupport } from "./kept-call.ts";
export { mailMessage } from "./mail-message.ts";
export { oauthAssertion } from "./oauth-assertion.ts";
export { oauthAuthorization } from "./oauth-authorization.ts";
export { oauthClient } from "./oauth-client.ts";
export { oauthConsent } from "./oauth-consent.ts";
export { oauthGrant } from "./oauth-grant.ts";
export { oauthRefreshToken } from "./oauth-refresh-token.ts";
export { apikey, invitation, member, organization } from "./organization.ts";
export { picture } from "./picture.ts";
export { portal, portalServer } from "./portal.ts";
export { project } from "./project.ts";
export { recordedAnswers } from "./recorded-answers.ts";
export { repository, repositoryBundles } from "./repository.ts";
export { requestLog } from "./request-log.ts";
export {
  requestLogCaller,
  requestLogCallerSlot,
  requestLogDelta,
  requestLogHalfDay,
  requestLogHour,
  requestLogMessage,
  requestLogMinute,
  requestLogSeries,
  requestLogTenMinutes,
} from "./request-log-rollup.ts";
export { requestLogActivity, requestLogSession, requestLogUser, requestLogUserHour } from "./request-log-session.ts";
export { type RetentionMoment, type RetentionPolicy, type RetentionRule, retentionRules } from "./retention.ts";
export { route } from "./route.ts";
export { defaultView, savedView, type ViewSearch } from "./saved-view.ts";
export { scheduledBackup } from "./scheduled-backup.ts";
export { secret, secretVersion } from "./secret.ts";
export { serverDay } from "./server-day.ts";
export { serverIcon } from "./server-icon.ts";
export { serverLog } from "./server-log.ts";
export { signInIssuer } from "./sign-in-issuer.ts";
export { signInStep } from "./sign-in-step.ts";
export { account, rateLimit, session, signInAttempt, twoFactor, user, verification } from "./user.ts";
export { webhookDelivery } from "./webhook-delivery.ts";
export { workloadIdentity } from "./workload-identity.ts";
