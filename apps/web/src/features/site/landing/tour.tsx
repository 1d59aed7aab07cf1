import { classNames } from "~/ui/class-names.ts";
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
          <ol className="flex flex-wrap gap-2 lg:grid lg:gap-x-10 lg:gap-y-1 lg:grid-cols-[19rem_minmax(0,1fr)] lg:grid-rows-[repeat(6,auto)_1fr]">
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

/**
 * A step and its picture: on narrow screens below the titles of all, so that these stay where they are when another one is
 * chosen; on wide ones beside them.
 */
function Step({ title, text, picture, isFirst }: StepProps) {
  const id = `tour-${title.toLowerCase().replaceAll(" ", "-")}`;
  return (
    <li className="group contents">
      <label
        className={classNames(
          "flex min-h-9 cursor-pointer items-center gap-2 rounded-full border border-line px-3 hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-focus",
          "group-has-checked:border-line-strong group-has-checked:bg-surface",
          "lg:relative lg:col-start-1 lg:block lg:rounded-lg lg:border-transparent lg:py-3 lg:pr-4 lg:pl-10 lg:has-focus-visible:outline-offset-0 lg:group-has-checked:border-line",
        )}
      >
        <input
          type="radio"
          name="tour"
          defaultChecked={isFirst}
          aria-labelledby={id}
          aria-describedby={`${id}-text`}
          className="size-4 shrink-0 cursor-pointer accent-accent outline-none lg:absolute lg:top-4 lg:left-3.5"
        />
        <span id={id} className="text-sm font-medium lg:block lg:text-base lg:font-semibold lg:tracking-tight">
          {title}
        </span>
        <span id={`${id}-text`} className="mt-0.5 hidden text-sm text-pretty text-muted lg:block">
          {text}
        </span>
      </label>
      <div className="order-1 mt-2 hidden w-full min-w-0 group-has-checked:block lg:sticky lg:top-24 lg:order-0 lg:col-start-2 lg:row-span-7 lg:row-start-1 lg:mt-0 lg:self-start">
        <p className="mb-4 max-w-prose text-base text-pretty text-muted lg:hidden">{text}</p>
        {/* biome-ignore lint/security/noDangerouslySetInnerHtml: the build made it from our own Markdown file */}
        <div dangerouslySetInnerHTML={{ __html: picture }} />
      </div>
    </li>
  );
}
