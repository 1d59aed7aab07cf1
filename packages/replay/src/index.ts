export { chooseCalls } from "./choose-calls.ts";
export { compareToolChoices } from "./compare-tool-choices.ts";
export { replayCalls } from "./replay-calls.ts";
export type {
  AskServer,
  CallAnswer,
  OfferedTool,
  SampledCall,
} from "./types.ts";
