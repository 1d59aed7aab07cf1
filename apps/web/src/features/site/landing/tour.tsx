import type { MarkdownPage } from "~/ui/markdown-page.ts";
import type { TourStep } from "./tour-step.schema.ts";

/** In the order of their file names. */
const steps = Object.entries(
  import.meta.glob<MarkdownPage<TourStep>>("./tour/*.md", { eager: true, import: "default" }),
);

/**
 * Screens of the product from a push to who may call it. One picture is shown at a time, chosen by native radio buttons, so
 * that it needs no script: browsers don't load the others, which are lazy.
 */
export function Tour() {
  return (
    <section aria-labelledby="tour-title" className="border-b">
      <div className="mx-auto max-w-[1280px] px-4 py-16 sm:px-6 sm:py-20">
        <h2 id="tour-title" className="text-2xl font-semibold tracking-tight text-balance">
          From a push to who may call it
        </h2>
        <p className="mt-2 max-w-prose text-lg text-pretty text-muted">
          Six screens of a server that reads tide gauges. Choose one.
        </p>
        <fieldset className="mt-8">
          <legend className="sr-only">Screen</legend>
          <ol className="grid gap-x-10 gap-y-1 lg:grid-cols-[19rem_minmax(0,1fr)] lg:grid-rows-[repeat(6,auto)_1fr]">
            {steps.map(([file, { frontMatter, html }], index) => (
              <Step key={file} {...frontMatter} picture={html} isFirst={index === 0} />
            ))}
          </ol>
        </fieldset>
      </div>
    </section>
  );
}

type StepProps = TourStep & { readonly picture: string; readonly isFirst: boolean };

/** Its picture is below it, on wide screens beside all steps. */
function Step({ title, text, picture, isFirst }: StepProps) {
  const id = `tour-${title.toLowerCase().replaceAll(" ", "-")}`;
  return (
    <li className="group min-w-0 lg:contents">
      <label className="relative block cursor-pointer rounded-lg border border-transparent py-3 pr-4 pl-10 group-has-checked:border-line group-has-checked:bg-surface hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-focus lg:col-start-1">
        <input
          type="radio"
          name="tour"
          defaultChecked={isFirst}
          aria-labelledby={id}
          aria-describedby={`${id}-text`}
          className="absolute top-4 left-3.5 size-4 cursor-pointer accent-accent outline-none"
        />
        <span id={id} className="block text-base font-semibold tracking-tight">
          {title}
        </span>
        <span id={`${id}-text`} className="mt-0.5 block text-sm text-pretty text-muted">
          {text}
        </span>
      </label>
      <div
        className="mt-2 mb-4 hidden group-has-checked:block lg:sticky lg:top-24 lg:col-start-2 lg:row-span-7 lg:row-start-1 lg:my-0 lg:self-start"
        // biome-ignore lint/security/noDangerouslySetInnerHtml: the build made it from our own Markdown file
        dangerouslySetInnerHTML={{ __html: picture }}
      />
    </li>
  );
}
