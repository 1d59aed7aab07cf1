import type { Page } from "playwright-core";
import type { Filled } from "./fill-instance.ts";

/** Brings the page into a picture's state. */
export type Scene = {
  readonly show: (page: Page, filled: Filled) => Promise<unknown>;
  /** Whether there is also a picture of it on a phone: those of the landing page. */
  readonly onPhone?: true;
};
