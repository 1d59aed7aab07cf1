export { requireFreeName } from "./check-project-name.ts";
export { lockForDeletion } from "./delete-project.ts";
export { callerProbeOf, settingsOf } from "./project.view.ts";
export { replaySettingOf } from "./replay.schema.ts";
