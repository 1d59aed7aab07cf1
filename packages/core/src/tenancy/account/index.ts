export { type AccountActivity, listAccountActivity } from "./list-account-activity.ts";
export { recordAccountChange } from "./record-account-change.ts";
export { updatePreferences } from "./update-preferences.ts";
export { updateProfile } from "./update-profile.ts";
