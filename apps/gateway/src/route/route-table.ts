import type { Route } from "../read-model/routes.ts";

/** Label → route, in memory. Replaced as a whole, so that a reader never sees half of a change. */
export class RouteTable {
  #routes: ReadonlyMap<string, Route> | null = null;

  /** Whether routes were ever loaded, from the database or from the snapshot. */
  get isLoaded(): boolean {
    return this.#routes !== null;
  }

  get size(): number {
    return this.#routes?.size ?? 0;
  }

  find(label: string): Route | undefined {
    return this.#routes?.get(label);
  }

  replace(routes: readonly Route[]): void {
    this.#routes = new Map(routes.map((route) => [route.label, route]));
  }
}
