export { requireFreeName } from "./check-project-name.ts";
export { type CheckSetting, checkSettingOf } from "./check-setting.ts";
export { lockForDeletion } from "./delete-project.ts";
export { callerProbeOf, settingsOf } from "./project.view.ts";
