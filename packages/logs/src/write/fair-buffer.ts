type Share<Row> = { rows: Row[]; bytes: number };

export type BufferBounds<Row> = {
  maxRows: number;
  maxBytes: number;
  /** The tenant of a row: tenants share the bounds. */
  tenantOf: (row: Row) => string;
  bytesOf: (row: Row) => number;
};

/**
 * Rows that wait to be written, in order within each tenant. One buffer serves all tenants, so it is fair: when it is
 * full, the oldest row of the tenant with the most rows is dropped, and batches take from all tenants in turn.
 */
export class FairBuffer<Row> {
  readonly #bounds: BufferBounds<Row>;
  readonly #shares = new Map<string, Share<Row>>();
  #size = 0;
  #bytes = 0;

  constructor(bounds: BufferBounds<Row>) {
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a row after its tenant's others; returns the rows that there is no longer room for. */
  push(row: Row): readonly Row[] {
    const share = this.#shareOf(row);
    share.rows.push(row);
    this.#grow(share, 1, this.#bounds.bytesOf(row));
    return this.#evict();
  }

  /** Returns taken rows to the front, in the order in which they were taken. */
  putBack(rows: readonly Row[]): readonly Row[] {
    const byTenant = Map.groupBy(rows, this.#bounds.tenantOf);
    for (const own of byTenant.values()) {
      const share = this.#shareOf(own[0] as Row);
      share.rows = [...own, ...share.rows];
      this.#grow(share, own.length, this.#bytesOf(own));
    }
    return this.#evict();
  }

  /** Takes up to `count` rows, as evenly from all tenants as possible. */
  take(count: number): Row[] {
    const taken: Row[] = [];
    while (taken.length < count && this.#size > 0) {
      const each = Math.max(1, Math.floor((count - taken.length) / this.#shares.size));
      for (const [tenant, share] of this.#shares) {
        const own = share.rows.splice(0, Math.min(each, count - taken.length));
        this.#grow(share, -own.length, -this.#bytesOf(own));
        if (share.rows.length === 0) this.#shares.delete(tenant);
        taken.push(...own);
        if (taken.length === count) break;
      }
    }
    return taken;
  }

  #shareOf(row: Row): Share<Row> {
    const tenant = this.#bounds.tenantOf(row);
    let share = this.#shares.get(tenant);
    if (!share) {
      share = { rows: [], bytes: 0 };
      this.#shares.set(tenant, share);
    }
    return share;
  }

  #grow(share: Share<Row>, rows: number, bytes: number): void {
    share.bytes += bytes;
    this.#size += rows;
    this.#bytes += bytes;
  }

  #bytesOf(rows: readonly Row[]): number {
    return rows.reduce((sum, row) => sum + this.#bounds.bytesOf(row), 0);
  }

  #evict(): readonly Row[] {
    const { maxRows, maxBytes, bytesOf } = this.#bounds;
    const evicted: Row[] = [];
    while (this.#size > maxRows || this.#bytes > maxBytes) {
      const [tenant, share] = this.#largest();
      const row = share.rows.shift() as Row;
      this.#grow(share, -1, -bytesOf(row));
      if (share.rows.length === 0) this.#shares.delete(tenant);
      evicted.push(row);
    }
    return evicted;
  }

  #largest(): [string, Share<Row>] {
    const { maxRows, maxBytes } = this.#bounds;
    let largest: [string, Share<Row>] | null = null;
    let most = 0;
    for (const [tenant, share] of this.#shares) {
      const part = Math.max(share.rows.length / maxRows, share.bytes / maxBytes);
      if (part <= most) continue;
      most = part;
      largest = [tenant, share];
    }
    if (largest === null) throw new Error("a full buffer has a largest share");
    return largest;
  }
}
