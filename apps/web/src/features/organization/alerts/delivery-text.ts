import type { DeliveryView } from "@towpath/core/operations/alert";

/** How sending a message went, in a sentence; the receiver's own words are shortened by the server. */
export function resultText({ channel, status, lastStatus, lastAnswer }: DeliveryView): string {
  if (lastStatus !== null) {
    const answered = `${channel.format === "mail" ? "The mail server" : "The receiver"} answered ${lastStatus}`;
    return lastAnswer ? `${answered}: ${lastAnswer}` : `${answered}.`;
  }
  if (lastAnswer) return lastAnswer;
  if (status === "sent") return channel.format === "mail" ? "It is on its way." : "";
  if (status === "digested") return "";
  return status === "held" ? "Waits for the end of quiet hours, or of many alerts at once." : "Not sent yet.";
}
