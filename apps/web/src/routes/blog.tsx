import { createFileRoute } from "@tanstack/react-router";
import { Newspaper } from "lucide-react";
import { PublicLayout } from "~/features/public-site/public-layout.tsx";
import { EmptyState } from "~/ui/empty-state.tsx";

/** PUB-7. There are no posts yet. */
export const Route = createFileRoute("/blog")({
  head: () => ({ meta: [{ title: "Blog · Towpath" }, { name: "robots", content: "noindex" }] }),
  component: () => (
    <PublicLayout>
      <main className="mx-auto w-full max-w-3xl px-4 py-14 sm:px-6 sm:py-20">
        <h1 className="text-3xl font-semibold tracking-tight">Blog</h1>
        <EmptyState icon={<Newspaper aria-hidden />} title="No posts yet" />
      </main>
    </PublicLayout>
  ),
});
