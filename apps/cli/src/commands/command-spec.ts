export type OptionSpec = {
  readonly type: "string" | "boolean";
  /** What stands for the value in help, such as `COMMIT`. */
  readonly value?: string;
  readonly text: string;
  /** May be given several times. */
  readonly multiple?: boolean;
  /** What the value can be, where that is known; `files`: a path. Shells complete it. */
  readonly choices?: Choices;
  /** Of a flag: there is `--no-…` too, which undoes it. */
  readonly hasOpposite?: true;
};

type Choices = readonly string[] | "files";

export type CommandSpec = {
  /** The arguments, as help shows them: `NAME` is required, `[NAME]` isn't, `[WORD …]` stands for any number. */
  readonly arguments: string;
  /** The same for its arguments by place, counted from 1. */
  readonly choices?: Readonly<Record<number, Choices>>;
  readonly text: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Options of earlier releases, and what to do instead, as the rest of a sentence: "--NAME is gone: …". */
  readonly removed?: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  /** Works on this machine only, beside the instance or without one. */
  readonly isLocal?: boolean;
};
