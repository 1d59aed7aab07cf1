export { lockForDeletion } from "./delete-project.ts";
export { repositoryView } from "./project.view.ts";
