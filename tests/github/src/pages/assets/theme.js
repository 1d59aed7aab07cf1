// Runs before the first paint. The same key and values as on the product's own pages, which have another origin.
const root = document.documentElement;
const choice = localStorage.getItem("theme");
if (choice === "light" || choice === "dark") root.dataset.theme = choice;
