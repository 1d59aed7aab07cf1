export { checkProjectName, requireFreeName, unavailableName } from "./check-project-name.ts";
export { deleteProject } from "./delete-project.ts";
export { deployProject } from "./deploy-project.ts";
export { type CaptureChange, getCaptureChange } from "./get-capture-change.ts";
export { getProject, listProjects } from "./get-project.ts";
export { authModeSchema, type DeployProjectInput } from "./project.schema.ts";
export type { ProjectDetailView, ProjectListItem, ProjectView } from "./project.view.ts";
export { proposeServerName } from "./propose-server-name.ts";
export { updateProject } from "./update-project.ts";
