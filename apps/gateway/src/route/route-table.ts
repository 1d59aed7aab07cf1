import { deploymentOf, type Route } from "../read-model/routes.ts";

/** Label → route, in memory. Replaced as a whole, so that a reader never sees half of a change. */
export class RouteTable {
  #routes: ReadonlyMap<string, Route> | null = null;
  #domains: ReadonlyMap<string, string> = new Map();
  #opening: Promise<void> | null = null;

  /** Resolves when the table may be used; null once it may. At a start its routes may be older than the database's. */
  get opening(): Promise<void> | null {
    return this.#opening;
  }

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

  /** The label of the server that a domain of its own leads to. */
  readonly labelOfDomain = (hostName: string): string | undefined => this.#domains.get(hostName);

  /** The deployments that labels lead to. Iterates over all routes: not for the path of a request. */
  deployments(): ReadonlySet<string> {
    const routes = [...(this.#routes?.values() ?? [])];
    return new Set(routes.map(deploymentOf).filter((id) => id !== null));
  }

  /** Makes readers wait for a load, which must end by itself. Never rejects. */
  openAfter(load: Promise<unknown>): void {
    const opening: Promise<void> = load
      .catch(() => {})
      .then(() => {
        if (this.#opening === opening) this.#opening = null;
      });
    this.#opening = opening;
  }

  replace(routes: readonly Route[]): void {
    this.#routes = new Map(routes.map((route) => [route.label, route]));
    this.#domains = new Map(routes.flatMap(({ domains, label }) => domains.map((domain) => [domain, label] as const)));
  }
}
