/** Runs actions one at a time, in the order of the calls. A failing action does not block the next. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Whether an action runs or waits. */
  get isLocked(): boolean {
    return this.#waiting > 0;
  }

  run<Result>(action: () => Promise<Result>): Promise<Result> {
    this.#waiting += 1;
    const result = this.#last.then(action).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = result.catch(() => {});
    return result;
  }
}
