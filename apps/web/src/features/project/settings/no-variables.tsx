/** In place of the list. */
export const NoVariables = () => (
  <p className="border-t px-4 py-6 text-center text-sm text-muted">
    No variables yet. Add the ones your code reads from its environment, such as <code>os.environ["WEATHER_KEY"]</code>.
  </p>
);
