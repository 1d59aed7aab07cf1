export { beginTurn } from "./begin-turn.ts";
export { deleteChat, getChat, listChats, renameChat } from "./chats.ts";
export { endTurn, noteUsage, replyToTurn, takeReply } from "./run-turn.ts";
export { findSuggestedQuestions, keepSuggestedQuestions } from "./suggested-questions.ts";
