import type { RootSecrets } from "@towpath/crypto";
import { z } from "zod";

const minLength = 32;
const tooShort = `must have at least ${minLength} characters`;

/** Settings of every process that derives keys. */
export const secretSettings = {
  TOWPATH_SECRET: z.string({ error: "is missing" }).min(minLength, tooShort),
  /** Earlier values of TOWPATH_SECRET, separated by commas: while a master key is being replaced. */
  TOWPATH_PREVIOUS_SECRETS: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((each) => each.trim()))
    .transform((secrets) => secrets.filter((secret) => secret !== ""))
    .refine((secrets) => secrets.every((secret) => secret.length >= minLength), `each ${tooShort}`),
};

export const rootSecretsFrom = (values: {
  readonly TOWPATH_SECRET: string;
  readonly TOWPATH_PREVIOUS_SECRETS: readonly string[];
}): RootSecrets => ({ current: values.TOWPATH_SECRET, previous: values.TOWPATH_PREVIOUS_SECRETS });
