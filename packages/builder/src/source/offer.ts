import type { Program } from "@towpath/core/delivery/build/contract";

/** The texts of a tree's files, as far as known. */
export type Texts = { readonly get: (path: string) => string | undefined };

/** A way to start the server of a source tree. `why`: the reason, the end of a sentence about it. */
export type Offer = {
  readonly program: Program;
  readonly file: string;
  readonly why: string;
  /** Nothing in the file identifies a server. */
  readonly isGuess?: true;
};
