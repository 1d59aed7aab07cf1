export { compareManifests, type SurfaceChange } from "./compare.ts";
export { type Manifest, manifestSchema, readServerIcons, type ServerIcon } from "./manifest.ts";
export {
  answerKey,
  type Conversation,
  firstModernVersion,
  isModern,
  listMethods,
  type RecordedAnswers,
  recordedAnswersSchema,
  streamKey,
} from "./recorded-answers.ts";
export { itemTokens, toolListTokens } from "./tokens.ts";
