import { deriveKey, equalInConstantTime, hmacSha256 } from "@towpath/crypto";

/** Creates and checks ids with content for a gateway, under a MAC: `kind.payload.mac`, printable ASCII. */
export type SignedIds<Kind extends string> = {
  /**
   * `owner`: for whom and where the id is valid; the MAC covers it, the id lacks it. Null: the id would be too long.
   */
  seal: (kind: Kind, content: unknown, owner: readonly string[]) => string | null;
  /** Null unless we issued the id to this owner. Ids from before the secret was replaced are still ours. */
  open: (id: string, owner: readonly string[]) => { readonly kind: Kind; readonly content: unknown } | null;
};

type Options<Kind extends string> = {
  readonly purpose: Parameters<typeof deriveKey>[1];
  readonly kinds: readonly Kind[];
  readonly maxLength: number;
  readonly secret: string;
  readonly previousSecrets?: readonly string[];
};

const idPattern = /^(\w{1,8})\.([\w-]+)\.([\w-]{43})$/;

export function createSignedIds<Kind extends string>(options: Options<Kind>): SignedIds<Kind> {
  const { purpose, kinds, maxLength, secret, previousSecrets = [] } = options;
  const current = deriveKey(secret, purpose).bytes;
  const keys = [current, ...previousSecrets.map((each) => deriveKey(each, purpose).bytes)];
  const macOf = (key: Uint8Array, kind: Kind, payload: string, owner: readonly string[]) =>
    hmacSha256(key, JSON.stringify([kind, ...owner, payload]));

  return {
    seal(kind, content, owner) {
      const payload = Buffer.from(JSON.stringify(content)).toString("base64url");
      const id = `${kind}.${payload}.${macOf(current, kind, payload, owner)}`;
      return id.length > maxLength ? null : id;
    },
    open(id, owner) {
      if (id.length > maxLength) return null;
      const [, found, payload, mac] = idPattern.exec(id) ?? [];
      const kind = kinds.find((each) => each === found);
      if (kind === undefined || payload === undefined || mac === undefined) return null;
      if (!keys.some((key) => equalInConstantTime(macOf(key, kind, payload, owner), mac))) return null;
      return { kind, content: JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) };
    },
  };
}
