/** What may be shown of an API key after its creation (KEY-3). */
export type ApiKeyView = {
  readonly id: string;
  readonly name: string;
  /** The key's first characters, to tell keys apart. */
  readonly start: string;
  readonly status: "active" | "revoked" | "expired";
  readonly createdByUserId: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
};

/** `key` is shown this once; only its hash is stored. */
export type NewApiKeyView = ApiKeyView & { readonly key: string };
