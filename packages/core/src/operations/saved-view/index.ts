export { deleteView, renameView, saveView, setDefaultView } from "./change-saved-views.ts";
export { type DefaultView, listDefaultViews, listSavedViews, type SavedView } from "./list-saved-views.ts";
