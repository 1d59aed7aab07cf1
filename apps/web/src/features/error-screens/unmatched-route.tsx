/** ERR-4: no route has this address. */
export function UnmatchedRoute() {
  return (
    <main className="mx-auto max-w-xl px-6 py-24">
      <h1 className="text-xl font-semibold">Not Found</h1>
    </main>
  );
}
