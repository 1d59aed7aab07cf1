export type { InstallationView } from "./installation.store.ts";
export { requireUsableInstallation } from "./installation.store.ts";
export { listInstallations, requireInstallation } from "./list-installations.ts";
export { recordGitHubUser } from "./record-github-user.ts";
export { type RecordInstallationInput, recordInstallation, recordInstallationSchema } from "./record-installation.ts";
