export { type AccessView, accessViewSchema, getAccess } from "./access.view.ts";
export { authorizeCaller, mayCallServer } from "./authorize-caller.ts";
export { saveAccess } from "./save-access.ts";
