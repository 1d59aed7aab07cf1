export { listInstallations, requireInstallation } from "./list-installations.ts";
export { recordGitHubUser } from "./record-github-user.ts";
export { recordInstallation } from "./record-installation.ts";
