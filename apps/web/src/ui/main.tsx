import { createContext, type ReactNode, useContext } from "react";

const InMain = createContext(false);

/**
 * The page's `<main>`, which the skip link leads to; inside another one a `<div>`, because a document may have only one.
 * Error views use it: some replace a page within its layout, others the layout too.
 */
export function Main({ className, children }: { className?: string; children: ReactNode }) {
  if (useContext(InMain)) return <div className={className}>{children}</div>;
  return (
    <InMain.Provider value={true}>
      <main id="content" tabIndex={-1} className={className}>
        {children}
      </main>
    </InMain.Provider>
  );
}
