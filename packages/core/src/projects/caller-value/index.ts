export {
  type CallerValuesView,
  callerValuesViewSchema,
  type ValueCheckView,
  valueCheckSchema,
} from "./caller-value.view.ts";
export { deleteCallerValue, listCallerServers, readCallerValues, setCallerValues } from "./caller-values.ts";
export { readCallerCheck } from "./read-caller-check.ts";
