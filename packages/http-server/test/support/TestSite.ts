import type { SiteFolders } from "@agentos/http-server"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("site", import.meta.url))

/** A documentation of two pages, and one package. */
export const testSite: SiteFolders = {
  texts: async () => folder,
  pages: async () => folder,
  downloads: async () => `${folder}/downloads`
}
