// Shows the OpenAPI document. Scalar is the global of its bundle, which this page loads before.
const container = document.getElementById("explorer")
const isDark = () => document.documentElement.dataset.theme === "dark"
const reference = Scalar.createApiReference(container, {
  url: "/docs/openapi.json",
  forceDarkModeState: isDark() ? "dark" : "light",
  hideDarkModeToggle: true,
  hideClientButton: true,
  hiddenClients: true,
  hideTestRequestButton: true,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never"
})
new MutationObserver(() => {
  reference.updateConfiguration({
    ...reference.getConfiguration(),
    forceDarkModeState: isDark() ? "dark" : "light"
  })
  document.body.classList.toggle("dark-mode", isDark())
  document.body.classList.toggle("light-mode", !isDark())
}).observe(document.documentElement, { attributeFilter: ["data-theme"] })
