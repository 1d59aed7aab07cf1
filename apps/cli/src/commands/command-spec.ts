export type OptionSpec = {
  readonly type: "string" | "boolean";
  /** Placeholder of the value in help, such as `COMMIT`. */
  readonly value?: string;
  readonly text: string;
  /** May be given several times. */
  readonly multiple?: boolean;
  /** Possible values, for completion; `files`: a path. */
  readonly choices?: Choices;
  /** A flag that has an opposite, `--no-…`. */
  readonly hasOpposite?: true;
};

type Choices = readonly string[] | "files";

export type CommandSpec = {
  /** The arguments in help: `NAME` is required, `[NAME]` is optional, `[WORD …]` is any number. */
  readonly arguments: string;
  /** The same for its arguments by place, counted from 1. */
  readonly choices?: Readonly<Record<number, Choices>>;
  readonly text: string;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Removed options, and what to do instead: the rest of "--NAME was removed: …". */
  readonly removed?: Readonly<Record<string, string>>;
  readonly examples: readonly string[];
  /** Works on this machine only, with its instance or without one. */
  readonly isLocal?: boolean;
};

// Kinds of options, and common options.

export const value = <const Value extends string>(name: Value, text: string) =>
  ({ type: "string", value: name, text }) as const;
export const flag = (text: string) => ({ type: "boolean", text }) as const;
export const setting = (text: string) => ({ ...flag(text), hasOpposite: true }) as const;

export const path = (name: string, text: string) => ({ ...value(name, text), choices: "files" }) as const;
export const oneOf = (name: string, choices: readonly string[], text: string) =>
  ({ ...value(name, text), choices }) as const;

export const dataDirectory = {
  "data-dir": path("DIR", "the local instance's data directory, instead of a login"),
} as const;
export const json = {
  json: flag("print JSON on stdout: one document, or one line an event; texts go to stderr"),
} as const;
export const common = { ...dataDirectory, ...json } as const;
