export { checkProjectName, requireFreeName, unavailableName } from "./check-project-name.ts";
export { deleteProject } from "./delete-project.ts";
export { deployGitUrl } from "./deploy-git-url.ts";
export { deployPackage } from "./deploy-package.ts";
export { deployProject } from "./deploy-project.ts";
export { deployRepository } from "./deploy-repository.ts";
export { type CaptureChange, getCaptureChange } from "./get-capture-change.ts";
export { findProjectOfInstance, getProject, listProjects, listProjectsOfUser, ownProjectIds } from "./get-project.ts";
export { getRecordedLists, type RecordedListsView } from "./get-recorded-lists.ts";
export type { DeployProjectInput, ProjectKind } from "./project.schema.ts";
export {
  type ProjectDetailView,
  type ProjectListItem,
  type ProjectView,
  projectDetailSchema,
  projectListItemSchema,
  projectViewSchema,
} from "./project.view.ts";
export { proposeServerName } from "./propose-server-name.ts";
export { type FormerNameView, listFormerNames, releaseFormerName } from "./rename-project.ts";
export { updateProject } from "./update-project.ts";
