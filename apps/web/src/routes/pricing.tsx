import { createFileRoute } from "@tanstack/react-router";
import { PricingPage } from "~/features/public-site/pricing-page.tsx";
import { PublicLayout } from "~/features/public-site/public-layout.tsx";

/** PUB-6 */
export const Route = createFileRoute("/pricing")({
  head: () => ({
    meta: [
      { title: "Pricing · Towpath" },
      { name: "description", content: "Towpath is open source. You run it, and it costs what your machine costs." },
    ],
  }),
  component: () => (
    <PublicLayout>
      <PricingPage />
    </PublicLayout>
  ),
});
