import { createServerFn } from "@tanstack/react-start";
import { z } from "zod";
import { publicAccess } from "~/http/access.ts";
import { input } from "~/http/input.ts";
import { posts } from "./posts.server.ts";

/** The published posts without their text, newest first (PUB-7). */
export const getPosts = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .handler(() => posts.map(({ slug, meta, minutes }) => ({ slug, meta, minutes })));

/** A published post; null for drafts and unknown slugs (PUB-8). */
export const getPost = createServerFn({ method: "GET" })
  .middleware([publicAccess])
  .validator(input(z.object({ slug: z.string().max(200) })))
  .handler(({ data }) => posts.find(({ slug }) => slug === data.slug) ?? null);
