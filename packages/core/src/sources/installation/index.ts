export { disconnectInstallation } from "./disconnect-installation.ts";
export type { InstallationView } from "./installation.store.ts";
export { listInstallations, recordGitHubUser, recordInstallation, requireInstallation } from "./installations.ts";
export { listInstallationsOfUser, requireInstallationOfUser } from "./installations-of-user.ts";
