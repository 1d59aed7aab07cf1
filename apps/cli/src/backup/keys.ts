import { readFile } from "node:fs/promises";
import { type FileIdentity, type FileRecipient, isPrivateKey, isPublicKey } from "@towpath/crypto/file";
import { ask } from "../terminal/input.ts";
import { CommandError, UsageError } from "../terminal/terminal.ts";
import { passphraseSetting } from "./config.ts";

type Given = { readonly "passphrase-file": string | undefined };

const minPassphraseCharacters = 12;

/** Who can open a new back-up: it holds the key to all variables, so it is never written in the clear. */
export async function recipientOf(
  values: Given & { readonly recipient: readonly string[] | undefined },
): Promise<FileRecipient> {
  const { recipient: publicKeys = [] } = values;
  if (publicKeys.length > 0 && values["passphrase-file"] !== undefined)
    throw new UsageError("A back-up has a passphrase or recipients, not both.");
  const wrong = publicKeys.find((key) => !isPublicKey(key));
  if (wrong !== undefined) throw new UsageError(`${wrong} is no public key of age, such as age1… from age-keygen.`);
  if (publicKeys.length > 0) return { publicKeys };
  const passphrase = await passphraseOf(values, "Passphrase for the back-up: ", "The same again: ");
  if (passphrase.length < minPassphraseCharacters)
    throw new UsageError(
      `The passphrase needs at least ${minPassphraseCharacters} characters: whoever has the file can try any number.`,
    );
  return { passphrase };
}

/** What opens a back-up. */
export async function identityOf(values: Given & { readonly identity: string | undefined }): Promise<FileIdentity> {
  if (values.identity === undefined) return { passphrase: await passphraseOf(values, "Passphrase of the back-up: ") };
  const lines = (await readText(values.identity)).split("\n").map((line) => line.trim());
  const privateKeys = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (privateKeys.length === 0 || !privateKeys.every(isPrivateKey))
    throw new UsageError(`${values.identity} has no private key of age (AGE-SECRET-KEY-1…).`);
  return { privateKeys };
}

/** `again`: a new one that is typed is asked for twice. */
async function passphraseOf(values: Given, question: string, again?: string): Promise<string> {
  const file = values["passphrase-file"];
  if (file !== undefined) return (await readText(file)).replace(/\r?\n$/, "");
  const given = passphraseSetting();
  if (given !== "") return given;
  if (!process.stdin.isTTY)
    throw new UsageError(
      "A back-up holds the key to all variables, so it needs a passphrase (--passphrase-file or TOWPATH_BACKUP_PASSPHRASE) " +
        "or a key (--recipient to make it, --identity to read it).",
    );
  const typed = await ask(question, { hidden: true });
  if (again !== undefined && (await ask(again, { hidden: true })) !== typed)
    throw new CommandError("These are two different passphrases. Nothing was written.");
  return typed;
}

const readText = (file: string): Promise<string> =>
  readFile(file, "utf8").catch((error: Error) => {
    throw new CommandError(`${file} can't be read: ${error.message}`);
  });
