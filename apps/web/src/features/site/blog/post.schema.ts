import { z } from "zod";

/** The front matter of a post (PUB-16). */
export const postMetaSchema = z.strictObject({
  title: z.string().min(1).max(80),
  description: z.string().min(1).max(220),
  author: z.strictObject({
    name: z.string().min(1),
    /** Path of an image on this site. */
    avatar: z.string().startsWith("/"),
  }),
  /** Day of publication, UTC. */
  publishedAt: z.union([z.date(), z.iso.date()]).transform((day) => new Date(day).toISOString()),
  tags: z.array(z.string().regex(/^[a-z0-9-]+$/)).min(1),
  /** Path of the social image on this site. */
  image: z.string().startsWith("/"),
  /** Drafts are in no list, no feed and no sitemap, and their page doesn't exist. */
  draft: z.boolean().optional(),
});
export type PostMeta = z.output<typeof postMetaSchema>;
