import { Card } from "./card.tsx";
import { SkeletonRows } from "./loading.tsx";
import { PageHeader } from "./page-header.tsx";

type PagePendingProps = {
  title: string;
  description?: string;
  /** How many rows each card has. */
  cards: readonly number[];
  className?: string;
};

/** A page while it loads: its title, and cards with grey rows. */
export function PagePending({ title, description, cards, className = "" }: PagePendingProps) {
  return (
    <>
      <PageHeader title={title} description={description} />
      <div className={`flex flex-col gap-5 ${className}`}>
        {cards.map((rows, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: cards without identity
          <Card key={at}>
            <SkeletonRows rows={rows} label={`Loading ${title.toLowerCase()}${at > 0 ? `, part ${at + 1}` : ""}`} />
          </Card>
        ))}
      </div>
    </>
  );
}
