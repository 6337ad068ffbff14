/**
 * Builds the site: `--texts` writes the Markdown twins, llms.txt and the OpenAPI document in a second, `--pages` the whole
 * site as HTML in about fifteen, `--downloads` the packed packages in about five. Without an option, builds the pages and
 * the downloads. Does nothing for a result that is already that of the current sources.
 */
import { buildDownloads, buildPages, buildTexts } from "./Build.ts"

const BUILDS = { "--texts": buildTexts, "--pages": buildPages, "--downloads": buildDownloads }
type Part = keyof typeof BUILDS

const isPart = (argument: string): argument is Part => argument in BUILDS

const parts = process.argv.slice(2)
if (!parts.every(isPart)) {
  console.error(`Usage: node build/siteMain.ts [${Object.keys(BUILDS).join(" | ")}]`)
  process.exit(64)
}
const DEFAULT: ReadonlyArray<Part> = ["--pages", "--downloads"]
for (const part of parts.length === 0 ? DEFAULT : parts) await BUILDS[part]()
