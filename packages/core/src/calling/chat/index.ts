export { type BegunTurn, beginTurn, countModelUse } from "./begin-turn.ts";
export { type ChatSummary, type ChatTurnView, type ChatView, maxTurnMs } from "./chat.view.ts";
export { deleteChat, getChat, listChats, renameChat } from "./chats.ts";
export { chatTurnChannel, endTurn, isTurnRunning, recordUsage, replyToTurn, stopTurn, takeReply } from "./run-turn.ts";
export { findSuggestedQuestions, keepSuggestedQuestions } from "./suggested-questions.ts";
