export { requireFreeName } from "./check-project-name.ts";
export { lockForDeletion } from "./delete-project.ts";
export { callerProbeOf, settingsOf } from "./project.view.ts";
