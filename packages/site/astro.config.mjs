import starlight from "@astrojs/starlight"
import { defineConfig, passthroughImageService } from "astro/config"
import { readFileSync } from "node:fs"

const sidebar = JSON.parse(readFileSync(new URL(".pages/sidebar.json", import.meta.url), "utf8"))
const group = ({ items, label }, collapsed = false) => ({ label, items, collapsed })

export default defineConfig({
  // A placeholder, which the server replaces by its own origin.
  site: "https://agentos.example",
  base: "/docs",
  trailingSlash: "never",
  srcDir: "./theme",
  publicDir: "./.pages/public",
  outDir: "./.pages/out",
  cacheDir: "./node_modules/.astro",
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: "AgentOS",
      description: "Real mailboxes and phone numbers for agents, paid per call in USDT through x402.",
      favicon: "/favicon.svg",
      customCss: ["./theme/site.css"],
      disable404Route: true,
      credits: false,
      sidebar: [
        ...sidebar.filter(({ isReference }) => !isReference).map((each) => group(each)),
        {
          label: "Reference",
          items: [
            { label: "API explorer", slug: "api" },
            ...sidebar.filter(({ isReference }) => isReference).map((each) => group(each, true))
          ]
        }
      ]
    })
  ]
})
