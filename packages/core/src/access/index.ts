export { type AccessView, getAccess } from "./access.view.ts";
export { saveAccess } from "./save-access.ts";
