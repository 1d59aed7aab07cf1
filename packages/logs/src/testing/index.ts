export { deploymentId, fillProject, projectId } from "./fill-project.ts";
export { requestLogRow } from "./rows.ts";
