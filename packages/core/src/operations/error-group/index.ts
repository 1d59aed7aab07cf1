export { changeErrorGroups } from "./change-error-groups.ts";
export type { ErrorChange, OnGroupChange } from "./error-change.ts";
export { groupFailures } from "./group-failures.ts";
export { getErrorGroup, listErrorGroups, listRecentErrors, type RecentErrors } from "./list-error-groups.ts";
