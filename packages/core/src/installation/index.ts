export { listInstallations, recordGitHubUser, recordInstallation, requireInstallation } from "./installations.ts";
