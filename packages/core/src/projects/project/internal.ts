export { requireFreeName } from "./check-project-name.ts";
export { lockForDeletion } from "./delete-project.ts";
export { settingsOf } from "./project.view.ts";
