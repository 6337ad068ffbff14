import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { sectionOf, withSection } from "./Changelog.ts"

/** Adds the newest version of all packages to CHANGELOG.md, from the changelogs that changesets has written. */
const root = fileURLToPath(new URL("..", import.meta.url))
const path = join(root, "CHANGELOG.md")
const read = (file: string) => readFileSync(join(root, file), "utf8")
const { version } = JSON.parse(read("packages/server/package.json")) as { readonly version: string }
const logs = new Map(
  globSync("packages/*/CHANGELOG.md", { cwd: root })
    .toSorted()
    .map((file) => [`@agentos/${file.split("/")[1]}`, read(file)])
)
writeFileSync(path, withSection(existsSync(path) ? readFileSync(path, "utf8") : "", version, sectionOf(version, logs)))
