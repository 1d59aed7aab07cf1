export {
  account,
  apikey,
  invitation,
  member,
  organization,
  rateLimit,
  session,
  signInAttempt,
  user,
  verification,
} from "./identity.ts";
export { buildLog, requestLog, serverLog } from "./logs.ts";
export {
  auditLog,
  branch,
  build,
  deployment,
  githubInstallation,
  hostIsolation,
  instance,
  project,
  route,
  secret,
  webhookDelivery,
} from "./project.ts";
