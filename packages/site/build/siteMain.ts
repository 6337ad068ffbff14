/**
 * Builds the site: `--texts` writes the Markdown twins, llms.txt and the OpenAPI document in a second, `--pages` the whole
 * site as HTML in about fifteen. Does nothing if the result is already that of the current sources.
 */
import { buildPages, buildTexts } from "./Build.ts"

const parts = process.argv.slice(2)
if (parts.some((part) => part !== "--texts" && part !== "--pages")) {
  console.error("Usage: node build/siteMain.ts [--texts | --pages]")
  process.exit(64)
}
if (parts.includes("--texts")) await buildTexts()
else await buildPages()
