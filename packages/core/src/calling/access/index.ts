export { type AccessView, getAccess } from "./access.view.ts";
export { authorizeCaller, mayCallServer } from "./authorize-caller.ts";
export { saveAccess } from "./save-access.ts";
