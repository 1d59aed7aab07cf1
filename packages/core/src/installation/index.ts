export { type RecordInstallationInput, recordInstallationSchema } from "./installation.schema.ts";
export { requireUsableInstallation } from "./installation.store.ts";
export type { InstallationView } from "./installation.view.ts";
export { listInstallations, requireInstallation } from "./list-installations.ts";
export { recordGitHubUser } from "./record-github-user.ts";
export { recordInstallation } from "./record-installation.ts";
