/** Does actions one at a time, in the order in which they came. One that fails does not hold up the next. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Whether something is being done or waits for its turn. */
  get isBusy(): boolean {
    return this.#waiting > 0;
  }

  take<Result>(action: () => Promise<Result>): Promise<Result> {
    this.#waiting += 1;
    const result = this.#last.then(action).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = result.catch(() => {});
    return result;
  }
}
