export { checkProjectName } from "./check-project-name.ts";
export { createProject } from "./create-project.ts";
export { deleteProject } from "./delete-project.ts";
export { getProject } from "./get-project.ts";
export { listProjects } from "./list-projects.ts";
export {
  type AuthMode,
  authModeSchema,
  authModes,
  type Commit,
  type CommitInput,
  type CreateProjectInput,
  commitSchema,
  createProjectSchema,
  entrypointSchema,
  type ListProjectsInput,
  projectListSchema,
  projectNameSchema,
  type RepositoryInput,
  repositorySchema,
  requirementsSchema,
  type UpdateProjectInput,
  updateProjectSchema,
} from "./project.schema.ts";
export type {
  ProjectDetailView,
  ProjectListItem,
  ProjectNameAvailability,
  ProjectView,
} from "./project.view.ts";
export { proposeServerName } from "./propose-server-name.ts";
export { updateProject } from "./update-project.ts";
