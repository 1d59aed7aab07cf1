import { createFileRoute } from "@tanstack/react-router";
import { pageHead } from "~/features/site/public-site/page-head.ts";
import { PricingPage } from "~/features/site/public-site/pricing-page.tsx";

/** PUB-6 */
export const Route = createFileRoute("/_site/pricing")({
  head: ({ match }) =>
    pageHead(match.context.site, {
      path: "/pricing",
      title: "Pricing · Towpath",
      description: "You run Towpath yourself. There is nothing to buy: it costs what your machine costs.",
    }),
  component: PricingPage,
});
