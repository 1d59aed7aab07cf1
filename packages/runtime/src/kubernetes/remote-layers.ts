/** Layers for pods, which reach the store by addresses that need no key: the `remote` of packages/artifacts' layer cache. */
export type RemoteLayers = {
  /** Where to GET the archive (tar, zstd) of a layer for some minutes. @throws an error with code `not_found` */
  address(digest: string): Promise<string>;
  /**
   * Stores a layer that `upload` sends to an address, unless it is stored already, and checks its digest. Resolves to it,
   * or to the digest of the earlier layer with the same name.
   *
   * @param digest lower-case hex SHA-256 of the archive
   * @throws what `upload` throws; an error with code `digest_mismatch` or `not_found` if other bytes or none arrived
   */
  receive(
    digest: string,
    options: { readonly name: string; readonly upload: (address: UploadAddress) => Promise<void> },
  ): Promise<{ digest: string }>;
};

/** Where to PUT bytes, with exactly these headers and their length. */
type UploadAddress = { readonly url: string; readonly headers: Readonly<Record<string, string>> };
