for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
}

// The list of repositories only matters when not all of them are chosen.
for (const fieldset of document.querySelectorAll("fieldset[data-when]")) {
  const choices = document.querySelectorAll(`input[name="${fieldset.dataset.when}"]`);
  const update = () => {
    fieldset.disabled = ![...choices].some((choice) => choice.checked && choice.value === "selected");
  };
  for (const choice of choices) choice.addEventListener("change", update);
  update();
}

const theme = document.querySelector("fieldset[data-theme-switch]");
theme.hidden = false;
for (const radio of theme.querySelectorAll("input")) {
  radio.checked = radio.value === (document.documentElement.dataset.theme ?? "system");
  radio.addEventListener("change", () => {
    localStorage.setItem("theme", radio.value);
    if (radio.value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = radio.value;
  });
}
