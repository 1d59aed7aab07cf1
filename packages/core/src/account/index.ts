export { recordAccountChange } from "./record-account-change.ts";
export { updateProfile } from "./update-profile.ts";
