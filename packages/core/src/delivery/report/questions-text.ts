import type { ReplayDocument } from "../replay/internal.ts";
import { code, counted } from "./markdown.ts";

type Questions = NonNullable<ReplayDocument["questions"]>;
type Question = Questions["questions"][number];

const results = {
  "other-tool": "**another tool**",
  "other-arguments": "**other arguments**",
  same: "same",
  unstable: "not stable",
  failed: "no answer",
  "not-asked": "not asked",
} as const satisfies Record<Question["state"], string>;

/** Which tools a model chose for the saved questions (CAP-4), as Markdown: what changed first, then what was not compared. */
export function questionsMarkdown({ model, calls, tokens, questions }: Questions): readonly string[] {
  const chosen = questions.filter(({ production, preview }) => production !== null && preview !== null);
  const rank = Object.keys(results);
  const rows = chosen.toSorted((one, other) => rank.indexOf(one.state) - rank.indexOf(other.state)).map(rowOf);
  const rest = Map.groupBy(
    questions.filter((each) => !chosen.includes(each)),
    ({ text }) => text,
  );
  const cost =
    model === null ? "" : ` ${code(model)} was called ${counted(calls, "time")}, for ${counted(tokens, "token")}.`;
  return [
    `Tools that a model chooses for ${counted(questions.length, "saved question")}.${cost}`,
    ...(rows.length > 0
      ? ["", "| Question | Production | Preview | Choice |", "| --- | --- | --- | --- |", ...rows]
      : []),
    ...(rest.size > 0
      ? ["", ...[...rest].map(([text, those]) => `- ${counted(those.length, "question")}: ${code(text, 300)}`)]
      : []),
  ];
}

const rowOf = ({ question, production, preview, state }: Question) =>
  `| ${code(question, 200)} | ${choiceOf(production)} | ${choiceOf(preview)} | ${results[state]} |`;

function choiceOf(choice: Question["production"]): string {
  if (choice === null) return "";
  if (choice.tool === null) return "no tool";
  const given = choice.arguments === null || choice.arguments === "{}" ? "" : ` ${code(choice.arguments, 200)}`;
  return `${code(choice.tool)}${given}`;
}
