export { checkProjectName, requireFreeName, unavailableName } from "./check-project-name.ts";
export { type DeleteProjectInput, deleteProject } from "./delete-project.ts";
export { deployProject } from "./deploy-project.ts";
export { getProject } from "./get-project.ts";
export { listProjects } from "./list-projects.ts";
export {
  type AuthMode,
  authModeSchema,
  authModes,
  type Commit,
  commitSchema,
  type DeployProjectInput,
  deployProjectSchema,
  entrypointSchema,
  type ListProjectsInput,
  projectListSchema,
  projectNameSchema,
  type Repository,
  repositorySchema,
  requirementsSchema,
  type UpdateProjectInput,
  updateProjectSchema,
} from "./project.schema.ts";
export type { ProjectDetailView, ProjectListItem, ProjectNameAvailability, ProjectView } from "./project.view.ts";
export { proposeServerName } from "./propose-server-name.ts";
export { updateProject } from "./update-project.ts";
