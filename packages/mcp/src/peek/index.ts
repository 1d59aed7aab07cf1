export {
  decodeHeaderValue,
  type MessagePeek,
  type PeekHints,
  peekHeaders,
  peekRequest,
  type RequestPeek,
} from "./request-peek.ts";
export { type AnswerPeek, ResponsePeek, type ResponsePeekOptions } from "./response-peek.ts";
