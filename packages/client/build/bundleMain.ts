/**
 * Writes the published package: the client as one module, its declarations as one, and a short package.json. The
 * arguments are its folder (default dist/npm) and the compiled declarations of src/index.ts (default dist/index.d.ts).
 */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"
import { dts } from "rolldown-plugin-dts"

const path = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const [dir = path("dist/npm"), declarations = path("dist/index.d.ts")] = process.argv.slice(2)

await build({
  input: path("src/index.ts"),
  platform: "neutral",
  // The sources need none.
  tsconfig: false,
  // Not minified, because errors show its lines and names. Bundlers of pages minify it.
  output: { dir, entryFileNames: "client.js", comments: false, sourcemap: true, cleanDir: true }
})
// The compiler has written the declarations, without those that are internal.
await build({
  input: { client: declarations },
  tsconfig: false,
  plugins: [dts({ dtsOnly: true, tsconfig: false })],
  output: { dir, entryFileNames: "[name].ts" }
})

const { description, engines, license, name, sideEffects, type, version } = JSON.parse(
  readFileSync(path("package.json"), "utf8")
) as Readonly<Record<string, unknown>>
const manifest = {
  name,
  version,
  description,
  type,
  license,
  exports: { ".": { types: "./client.d.ts", default: "./client.js" } },
  files: ["client.d.ts", "client.js", "client.js.map", "CHANGELOG.md"],
  engines,
  sideEffects
}
writeFileSync(`${dir}/package.json`, `${JSON.stringify(manifest, undefined, 2)}\n`)
/** Links into the repository, which a published package cannot follow. */
const REPOSITORY_LINK = /\[([^\]]+)\]\(\.\.\/[^)]+\)/g
writeFileSync(`${dir}/README.md`, readFileSync(path("README.md"), "utf8").replaceAll(REPOSITORY_LINK, "`$1`"))
// There is no changelog before the first release.
if (existsSync(path("CHANGELOG.md"))) copyFileSync(path("CHANGELOG.md"), `${dir}/CHANGELOG.md`)
