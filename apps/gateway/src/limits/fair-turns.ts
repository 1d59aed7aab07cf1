/** Requests of one organization that begin in one turn of the event loop, and of all that wait together. */
const perTurn = 8;

/**
 * Shares the event loop between organizations (GW-8). A burst within somebody's limits, or many calls that waited for
 * one server to start, would otherwise be processed in a single turn, and everybody else's calls and answers would wait
 * for its end.
 *
 * The first `perTurn` requests of an organization in a turn begin at once. The others wait in a queue per organization,
 * in order, and `perTurn` of them begin in each turn, organizations taking turns. Nothing is refused and no time is
 * lost: the loop doesn't sleep while requests wait.
 *
 * A turn covers the work of forwarding a request, not the time until its answer.
 */
export class FairTurns {
  /** Requests that have begun in this turn, by organization. */
  readonly #begun = new Map<string, number>();
  /** Requests that wait, oldest first, by organization; the organization whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #isTurnOpen = false;
  #size = 0;

  /** Requests that wait at the moment. */
  get size(): number {
    return this.#size;
  }

  /**
   * Resolves when a request may begin; undefined: at once. `open`: open requests of the organization, including this
   * one: if they are few, nothing is shared or counted. Default: many.
   */
  take(organizationId: string, open = Number.POSITIVE_INFINITY): Promise<void> | undefined {
    if (open <= perTurn) return undefined;
    const queue = this.#waiting.get(organizationId);
    this.#openTurn();
    if (queue === undefined) {
      const begun = this.#begun.get(organizationId) ?? 0;
      if (begun < perTurn) {
        this.#begun.set(organizationId, begun + 1);
        return undefined;
      }
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    if (queue) queue.push(resolve);
    else this.#waiting.set(organizationId, [resolve]);
    this.#size++;
    return promise;
  }

  #openTurn(): void {
    if (this.#isTurnOpen) return;
    this.#isTurnOpen = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#isTurnOpen = false;
    this.#begun.clear();
    let left = perTurn;
    // An organization that is put back is visited again.
    for (const [organizationId, queue] of this.#waiting) {
      if (left === 0) break;
      left--;
      this.#size--;
      queue.shift()?.();
      this.#waiting.delete(organizationId);
      if (queue.length > 0) this.#waiting.set(organizationId, queue);
    }
    if (this.#waiting.size > 0) this.#openTurn();
  };
}
