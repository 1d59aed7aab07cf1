export { account, apikey, invitation, member, organization, session, user, verification } from "./identity.ts";
export { buildLog, requestLog, serverLog } from "./logs.ts";
export {
  auditLog,
  branch,
  build,
  deployment,
  githubInstallation,
  instance,
  project,
  route,
  secret,
  webhookDelivery,
} from "./project.ts";
