export { chooseCalls } from "./choose-calls.ts";
export { compareToolChoices, offersSame } from "./compare-tool-choices.ts";
export { replayCalls } from "./replay-calls.ts";
export type {
  AskServer,
  CallAnswer,
  ChoiceReport,
  JsonObject,
  ModelAnswer,
  OfferedTool,
  SampledCall,
  ToolChoice,
} from "./types.ts";
