import type { ReplayView } from "@towpath/core/delivery/replay/schema";
import { bold, dim, plain, print } from "../terminal/terminal.ts";

type Questions = NonNullable<ReplayView["questions"]>;
type Choice = NonNullable<Questions["questions"][number]["preview"]>;

/** Which tools a model chose for the saved questions, with production's and with the preview's. */
export function printQuestions({ model, calls, tokens, questions }: Questions): void {
  const cost =
    model === null ? "" : ` ${dim(`${plain(model)}, ${calls} calls, ${tokens.toLocaleString("en")} tokens`)}`;
  print(`\n${bold("Questions to a model")}${cost}`);
  for (const { question, text, state, production, preview } of questions) {
    print(`  ${plain(question)}`);
    print(`    ${state.startsWith("other-") ? plain(text) : dim(plain(text))}`);
    if (!state.startsWith("other-") || !production || !preview) continue;
    print(`    ${dim("production")} ${choiceText(production)}`);
    print(`    ${dim("preview   ")} ${choiceText(preview)}`);
  }
}

const choiceText = ({ tool, arguments: given }: Choice) =>
  tool === null ? "no tool" : plain(`${tool} ${given ?? ""}`);
