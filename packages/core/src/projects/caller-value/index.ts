export { type CallerValuesView, callerValuesViewSchema } from "./caller-value.view.ts";
export { deleteCallerValue, listCallerServers, readCallerValues, setCallerValues } from "./caller-values.ts";
