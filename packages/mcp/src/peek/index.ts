export { parseExactly } from "./exact-json.ts";
export { readMessages, type StatedMessages } from "./read-messages.ts";
export {
  decodeHeaderValue,
  type MessagePeek,
  type PeekHints,
  peekHeaders,
  peekRequest,
  type RequestPeek,
} from "./request-peek.ts";
export { type AnswerPeek, ResponsePeek } from "./response-peek.ts";
