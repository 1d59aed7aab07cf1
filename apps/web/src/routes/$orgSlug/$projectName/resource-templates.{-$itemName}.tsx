import { createFileRoute } from "@tanstack/react-router";
import { movedToSurface } from "~/features/inspector/surface/surface-search.ts";

/** An address of earlier versions. */
export const Route = createFileRoute("/$orgSlug/$projectName/resource-templates/{-$itemName}")({
  beforeLoad: ({ params: { itemName: name, ...key }, search }) => movedToSurface(key, "template", name, search),
});
